// Right module of the kind `shifter`.
`define FIRST load
`define FIRSTQ d
`define SECOND shift
`define SECONDQ {q[6:0], bit_in}

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] load,
  input [0:0] shift,
  input [0:0] bit_in,
  input [7:0] d,
  output reg [7:0] q
);
// The logic:
  always @(posedge clk) begin
    if (rst) q <= 0;
    else if (`FIRST) q <= `FIRSTQ;
    else if (`SECOND) q <= `SECONDQ;
  end
endmodule
