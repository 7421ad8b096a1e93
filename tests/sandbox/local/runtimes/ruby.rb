require "fileutils"
require "socket"
require "tempfile"

Thread.new {}.join
raise "child" unless `echo child` == "child\n"
Process.wait(fork { exit 0 })
one, two = UNIXSocket.pair
one.write "x"
raise "pair" unless two.read(1) == "x"
server = TCPServer.new("127.0.0.1", 0)
TCPSocket.new("127.0.0.1", server.addr[1]).close
Tempfile.create { |file| FileUtils.cp_r(file.path, "two.txt") }
puts "done"
