<?php
if (shell_exec("echo child") !== "child\n") exit(1);
$process = proc_open(["cat"], [["pipe", "r"], ["pipe", "w"]], $pipes);
fwrite($pipes[0], "x");
fclose($pipes[0]);
if (fread($pipes[1], 1) !== "x" || proc_close($process) !== 0) exit(2);
$server = stream_socket_server("tcp://127.0.0.1:0");
if (!$server || !stream_socket_client("tcp://" . stream_socket_get_name($server, false))) exit(3);
fwrite(tmpfile(), "x");
if (preg_match('/(a+)b/', str_repeat("a", 1000) . "b") !== 1) exit(4);
file_put_contents("one.txt", "x");
copy("one.txt", "two.txt");
echo "done\n";
