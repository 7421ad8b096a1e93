import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

public class Main {
    public static void main(String[] args) throws Exception {
        var pool = Executors.newFixedThreadPool(4);
        if (pool.submit(() -> 6 * 7).get() != 42) System.exit(1);
        pool.shutdown();
        if (IntStream.range(0, 1000).parallel().sum() != 499500) System.exit(2);
        if (new ProcessBuilder("true").start().waitFor() != 0) System.exit(3);
        var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        var client = new Socket(server.getInetAddress(), server.getLocalPort());
        server.accept().getOutputStream().write(65);
        if (client.getInputStream().read() != 65) System.exit(4);
        Files.writeString(Path.of("one.txt"), "x");
        Files.copy(Path.of("one.txt"), Path.of("two.txt"));
        System.out.println("done");
    }
}
