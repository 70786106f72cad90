package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Credentials that the operators' commands show. */
@Timeout(120)
class OperatorLoginTest {
  private final List<String> shown = Collections.synchronizedList(new ArrayList<>());
  private final CliHarness cli = new CliHarness();
  private final HttpServer server;

  OperatorLoginTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          shown.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          byte[] body = "{\"error\":{\"message\":\"log in\"}}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(401, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private int buses(String... options) {
    List<String> all = new ArrayList<>();
    all.add("buses");
    all.add("--admin=localhost:" + server.getAddress().getPort());
    all.addAll(Arrays.asList(options));
    return cli.run(all.toArray(new String[0]));
  }

  @Test
  void aTokenComesFromAFileOrTheEnvironment(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
    assertThat(buses()).isEqualTo(3);
    assertThat(cli.err()).contains("log in");
    buses("--admin-token-file", file.toString());
    cli.variables.put("EVENTBUS_ADMIN_TOKEN", "fedcba9876543210");
    buses();
    cli.variables.put("EVENTBUS_ADMIN_TOKEN_FILE", file.toString());
    buses();
    assertThat(shown)
        .containsExactly(
            "null",
            "Bearer 0123456789abcdef",
            "Bearer fedcba9876543210",
            "Bearer 0123456789abcdef");
  }

  @Test
  void aUserHasAPassword(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("password"), "pass:word\nmore\n");
    buses("--user", "ann", "--password-file", file.toString());
    assertThat(shown).containsExactly("Basic YW5uOnBhc3M6d29yZA==");
    assertThat(buses("--user", "ann")).isEqualTo(2);
    assertThat(cli.err()).contains("--user without --password-file");
    assertThat(shown).hasSize(1);
  }
}
