// Right module of the kind `mux`.
`define ROWS       0: y = d0;\
      1: y = d1;\
      2: y = d2;\
      3: y = d3;
`define OTHER 7'd96

module top_module (
  input [2:0] sel,
  input [6:0] d0,
  input [6:0] d1,
  input [6:0] d2,
  input [6:0] d3,
  output reg [6:0] y
);
// The logic:
  always @* begin
    case (sel)
`ROWS
      default: y = `OTHER;
    endcase
  end
endmodule
