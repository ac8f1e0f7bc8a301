"""Operators of recurrent networks: LSTM, GRU and RNN."""
