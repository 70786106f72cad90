package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A bus that lost one of its event loops reports it, and ends. */
@Timeout(180)
class FailedBusTest {
  private static int health(BusServer bus) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + bus.adminPort() + "/healthz");
    HttpURLConnection http = (HttpURLConnection) uri.toURL().openConnection();
    http.setConnectTimeout(10_000);
    http.setReadTimeout(10_000);
    return http.getResponseCode();
  }

  @Test
  void aLoopThatEndsFailsTheBus() throws Exception {
    Map<String, String> settings =
        Map.of(
            "listen.host",
            "127.0.0.1",
            "listen.port",
            "0",
            "admin.port",
            "0",
            "auth.resume-key-file",
            TestKey.FILE.toString());
    try (BusServer bus = BusServer.start(ServerConfig.of(settings))) {
      assertThat(health(bus)).isEqualTo(200);
      EventLoop loop = (EventLoop) bus.loops().executor(0);
      assertThat(loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).await(60, TimeUnit.SECONDS))
          .isTrue();
      assertThat(bus.failed().toCompletableFuture().get(60, TimeUnit.SECONDS))
          .isEqualTo("event loop 0 has ended");
      assertThat(health(bus)).isEqualTo(503);
    }
  }
}
