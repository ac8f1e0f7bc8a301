"""Constants of MindRecord's error codes."""

SYS_ID = 0b00101010
