"""MindSpore's path of the helpers of distributions."""
