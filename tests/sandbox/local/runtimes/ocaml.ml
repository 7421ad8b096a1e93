let () =
  assert (Sys.command "true" = 0);
  let file = open_out "one.txt" in
  output_string file "x";
  close_out file;
  Sys.rename "one.txt" "two.txt";
  assert (Array.length (Sys.readdir ".") > 0);
  Gc.compact ();
  print_endline "done"
