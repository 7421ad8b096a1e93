// Right module of the kind `watermarks`.
`define WIDTH 5
`define HIGH 6
`define LOW 2
`define DROPS takes
`define ADDS push && !lost

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] push,
  input [0:0] pop,
  input [0:0] clear,
  input [5:0] d,
  output [5:0] head,
  output [3:0] level,
  output reg [0:0] pause,
  output reg [0:0] overflow
);
// The logic:
  reg [`WIDTH:0] words [0:7];
  reg [2:0] first;
  reg [3:0] count;
  wire takes = pop && count != 0;
  wire lost = push && !pop && count == 8;
  wire drops = `DROPS;
  wire adds = `ADDS;
  wire [3:0] next = count + adds - drops;
  assign level = count;
  assign head = count == 0 ? 0 : words[first];
  always @(posedge clk) begin
    if (rst) begin
      first <= 0;
      count <= 0;
      pause <= 0;
      overflow <= 0;
    end else begin
      if (adds) words[(first + count) & 7] <= d;
      if (drops) first <= first + 1;
      count <= next;
      if (lost) overflow <= 1;
      else if (clear) overflow <= 0;
      if (next >= `HIGH) pause <= 1;
      else if (next <= `LOW) pause <= 0;
    end
  end
endmodule
