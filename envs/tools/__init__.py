"""Tools: worlds that are acted on by calls, judged by the state that is left behind."""
