// Right module of the kind `priority`.
`define ROWS     if (a[0]) y = 0;\
    if (a[1]) y = 1;\
    if (a[2]) y = 2;\
    if (a[3]) y = 3;\
    if (a[4]) y = 4;\
    if (a[5]) y = 5;\
    if (a[6]) y = 6;\
    if (a[7]) y = 7;\
    if (a[8]) y = 8;\
    if (a[9]) y = 9;

module top_module (
  input [9:0] a,
  output reg [3:0] y,
  output [0:0] v
);
// The logic:
  assign v = |a;
  always @* begin
    y = 0;
`ROWS
  end
endmodule
