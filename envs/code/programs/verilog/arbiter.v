// Right module of the kind `arbiter`.
`define MOST 3
`define URGENT 2
`define STEP 1

module top_module (
  input clk,
  input [0:0] rst,
  input [3:0] req,
  output reg [3:0] grant,
  output reg [1:0] last
);
// The logic:
  reg [2:0] held;
  reg found;
  reg [1:0] at;
  integer k;
  always @(*) begin
    found = 0;
    at = 0;
    if (req[`URGENT] && !(last == `URGENT && (req & ~(4'd1 << `URGENT)) != 0)) begin
      found = 1;
      at = `URGENT;
    end
    for (k = 1; k <= 4; k = k + 1)
      if (!found && req[(last + k * `STEP) & 3]) begin
        found = 1;
        at = (last + k * `STEP) & 3;
      end
  end
  always @(posedge clk) begin
    if (rst) begin
      grant <= 0;
      last <= 3;
      held <= 0;
    end else if ((grant & req) != 0 && held < `MOST) begin
      held <= held + 1;
    end else begin
      grant <= found ? 4'd1 << at : 4'd0;
      if (found) begin
        last <= at;
        held <= 1;
      end
    end
  end
endmodule
