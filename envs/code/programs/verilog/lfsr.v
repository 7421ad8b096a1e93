// Right module of the kind `lfsr`.
`define START 108
`define REST 6
`define BITS q[0] ^ q[1] ^ q[5] ^ q[7]

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] en,
  output reg [7:0] q
);
// The logic:
  always @(posedge clk) begin
    if (rst) q <= `START;
    else if (en) q <= {q[`REST:0], `BITS};
  end
endmodule
