"""Right modules of `code/verilog`, by kind."""
