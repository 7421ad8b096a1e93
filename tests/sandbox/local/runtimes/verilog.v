module main;
  integer file;
  initial begin
    file = $fopen("one.txt", "w");
    $fdisplay(file, "x");
    $fclose(file);
    #5 $display("done");
    $finish;
  end
endmodule
