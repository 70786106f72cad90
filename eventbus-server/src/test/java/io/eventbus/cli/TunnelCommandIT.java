package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.console.ExitCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TCP through a bus, with the runnable jar as processes. */
@Timeout(180)
class TunnelCommandIT {
  private static final Pattern LISTENS = Pattern.compile("listens on (ws://\\S+),");
  private static final Pattern PORT = Pattern.compile("listens on 127.0.0.1:([0-9]+)");

  private final Path directory;
  private final List<JarCommand> commands = new ArrayList<>();
  private String url = "";

  TunnelCommandIT(@TempDir Path directory) {
    this.directory = directory;
  }

  @BeforeEach
  void startBus() throws Exception {
    JarCommand bus = start("", "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0");
    url = bus.awaitErr(LISTENS).group(1);
  }

  @AfterEach
  void stopAll() throws Exception {
    for (JarCommand command : commands) {
      command.end();
    }
  }

  private JarCommand start(String input, String... arguments) throws IOException {
    JarCommand command = JarCommand.piped(directory, input, arguments);
    commands.add(command);
    return command;
  }

  @Test
  void theInputComesBackFromAnEcho() throws Exception {
    JarCommand echo = start("", "respond", "echo", "--echo", "-u", url);
    echo.awaitErr(Pattern.compile("serves echo"));
    JarCommand tunnel = start("one\ntwo\n", "tunnel", "echo", "-u", url);
    assertThat(tunnel.exitCode()).as(tunnel.err()).isZero();
    assertThat(tunnel.out()).isEqualTo("one\ntwo\n");
    JarCommand none = start("", "tunnel", "nobody", "-u", url);
    assertThat(none.exitCode()).isEqualTo(ExitCode.NOT_EXECUTED);
    assertThat(none.err()).contains("no tunnel to nobody");
  }

  @Test
  void anEchoKeepsMessagesAsTheyAre() throws Exception {
    JarCommand echo = start("", "respond", "echo", "--echo", "-u", url);
    echo.awaitErr(Pattern.compile("serves echo"));
    int[] sizes = {0, 1, 5, 100, 3_000, 65_536, 200_000, 0};
    List<Integer> back = new CopyOnWriteArrayList<>();
    try (EventBusClient client = EventBusClient.builder().url(url).connect()) {
      Tunnel tunnel =
          client.tunnel("echo", Event.of("open"), TunnelOptions.DEFAULT).get(60, TimeUnit.SECONDS);
      Flow.Subscriber<byte[]> collector =
          new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
              subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(byte[] message) {
              back.add(message.length);
            }

            @Override
            public void onError(Throwable failure) {}

            @Override
            public void onComplete() {}
          };
      tunnel.messages().subscribe(collector);
      for (int size : sizes) {
        tunnel.send(new byte[size]).toCompletableFuture().get(60, TimeUnit.SECONDS);
      }
      tunnel.closeOutput();
      tunnel.closed().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
    assertThat(back).containsExactly(0, 1, 5, 100, 3_000, 65_536, 200_000, 0);
  }

  @Test
  void megabytesOfTcpKeepTheirChecksum() throws Exception {
    carry(3 << 20);
  }

  @Test
  @Tag("nightly")
  void aHundredMegabytesOfTcpKeepTheirChecksum() throws Exception {
    carry(100 << 20);
  }

  /** Carries bytes to a server that digests them and answers with the digest at their end. */
  private void carry(int bytes) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Void> served = CompletableFuture.runAsync(() -> digestOne(server));
      JarCommand respond =
          start("", "respond", "tcp", "--forward", "127.0.0.1:" + server.getLocalPort(), "-u", url);
      respond.awaitErr(Pattern.compile("serves tcp"));
      JarCommand tunnel = start("", "tunnel", "tcp", "--listen", "0", "-u", url);
      int port = Integer.parseInt(tunnel.awaitErr(PORT).group(1));
      MessageDigest sent = MessageDigest.getInstance("SHA-256");
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        OutputStream out = socket.getOutputStream();
        Random random = new Random(5);
        byte[] chunk = new byte[30_000];
        for (int left = bytes; left > 0; left -= chunk.length) {
          random.nextBytes(chunk);
          int n = Math.min(left, chunk.length);
          out.write(chunk, 0, n);
          sent.update(chunk, 0, n);
        }
        socket.shutdownOutput();
        // The other direction goes on after the end of this one.
        assertThat(socket.getInputStream().readAllBytes()).isEqualTo(sent.digest());
      }
      served.get(60, TimeUnit.SECONDS);
    }
  }

  private static void digestOne(ServerSocket server) {
    try (Socket socket = server.accept()) {
      MessageDigest received = MessageDigest.getInstance("SHA-256");
      InputStream in = socket.getInputStream();
      byte[] buffer = new byte[64 * 1024];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        received.update(buffer, 0, n);
      }
      socket.getOutputStream().write(received.digest());
    } catch (IOException | NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
