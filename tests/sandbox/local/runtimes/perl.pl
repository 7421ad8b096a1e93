use strict;
use warnings;
use File::Copy;
use File::Temp;
use IO::Socket::INET;
use threads;

threads->create(sub { })->join;
die "child" unless `echo child` eq "child\n";
my $pid = fork // die "fork";
exit 0 unless $pid;
waitpid $pid, 0;
my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "server: $!";
IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $server->sockport) or die "client: $!";
my $file = File::Temp->new;
copy($file->filename, "two.txt") or die "copy: $!";
print "done\n";
