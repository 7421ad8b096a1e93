// Right module of the kind `fifo`.
`define HIGH 6
`define GUARD
`define NOTHING 96

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] push,
  input [0:0] pop,
  input [6:0] d,
  output [6:0] head,
  output [0:0] full,
  output [0:0] empty
);
// The logic:
  reg [`HIGH:0] words [0:3];
  reg [1:0] first;
  reg [2:0] count;
  wire puts = push && !full`GUARD;
  wire takes = pop && !empty;
  assign full = count == 4;
  assign empty = count == 0;
  assign head = empty ? `NOTHING : words[first];
  always @(posedge clk) begin
    if (rst) begin
      first <= 0;
      count <= 0;
    end else begin
      if (puts) words[(first + count) & 3] <= d;
      if (takes) first <= first + 1;
      count <= count + puts - takes;
    end
  end
endmodule
