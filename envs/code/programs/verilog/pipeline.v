// Right module of the kind `pipeline`.
`define HIGH 7
`define ZERO a + b
`define ONE a ^ b
`define SKIPS 1

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] valid,
  input [0:0] flush,
  input [1:0] op,
  input [1:0] rd,
  input [1:0] ra,
  input [1:0] rb,
  output reg [7:0] y,
  output reg [0:0] done
);
// The logic:
  reg [`HIGH:0] regs [0:3];
  reg waits, ready;
  reg [1:0] own_op, own_rd, own_ra, own_rb;
  reg [`HIGH:0] found;
  wire [`HIGH:0] a = regs[own_ra];
  wire [`HIGH:0] b = regs[own_rb];
  reg [`HIGH:0] value;
  always @(*) begin
    case (own_op)
      0: value = `ZERO;
      1: value = `ONE;
      2: value = a;
      default: value = {own_ra, own_rb};
    endcase
  end
  wire runs = waits && !flush;
  wire skip = runs && own_op == 2 && value[0] == `SKIPS;
  always @(posedge clk) begin
    if (rst) begin
      regs[0] <= 0;
      regs[1] <= 0;
      regs[2] <= 0;
      regs[3] <= 0;
      waits <= 0;
      ready <= 0;
      y <= 0;
      done <= 0;
    end else begin
      done <= ready;
      if (ready) y <= found;
      ready <= runs;
      found <= value;
      if (runs) regs[own_rd] <= value;
      waits <= valid && !flush && !skip;
      own_op <= op;
      own_rd <= rd;
      own_ra <= ra;
      own_rb <= rb;
    end
  end
endmodule
