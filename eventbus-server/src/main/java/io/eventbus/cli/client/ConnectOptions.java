package io.eventbus.cli.client;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.TokenFile;
import io.eventbus.cli.console.TrustedCertificates;
import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that lead a client to its bus. */
final class ConnectOptions {
  private static final String DEFAULT_URL = "ws://localhost:8080/bus";

  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      description = {
        "Address of a bus: host, host:port or a whole ws:// or wss:// URL; may be repeated.",
        "Default: $EVENTBUS_URL, or " + DEFAULT_URL + "."
      })
  List<String> urls = new ArrayList<>();

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description =
          "Token to show to the bus (default: $EVENTBUS_TOKEN, which other users cannot read).")
  @Nullable String token;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "File with the token, or with the user's password, in its first line.")
  @Nullable Path tokenFile;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description =
          "User to authenticate as; the token is the password then (default: $EVENTBUS_USER).")
  @Nullable String user;

  @Option(
      names = "--client",
      paramLabel = "NAME",
      defaultValue = "eventbus-cli",
      description = "Name of this client in the bus's lists (default: ${DEFAULT-VALUE}).")
  String client = "eventbus-cli";

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "PEM file with certificates to trust for wss, instead of Java's own.")
  @Nullable Path ca;

  @Option(
      names = "--connect-timeout",
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "How long to try to connect (default: ${DEFAULT-VALUE}).")
  Duration connectTimeout = Duration.ofSeconds(10);

  /**
   * Connects.
   *
   * @throws CliFailure if no bus can be reached or the options are wrong
   */
  EventBusClient connect(Map<String, String> variables, ConnectionListener listener) {
    ClientBuilder builder =
        EventBusClient.builder()
            .name(client)
            .connectTimeout(connectTimeout)
            // A script may start the bus just before this command.
            .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true))
            .listener(listener);
    authenticate(builder, variables);
    List<String> addresses = addresses(variables);
    try {
      addresses.forEach(address -> builder.url(uri(address)));
      if (ca != null) {
        builder.sslContext(TrustedCertificates.context(ca));
      }
      builder.options();
    } catch (IllegalArgumentException e) {
      throw new CliFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
    try {
      return builder.connect();
    } catch (EventBusException e) {
      throw new CliFailure(
          ExitCode.NOT_CONNECTED,
          "cannot connect to " + String.join(", ", addresses) + ": " + Failures.describe(e),
          e);
    }
  }

  private void authenticate(ClientBuilder builder, Map<String, String> variables) {
    if (token != null && tokenFile != null) {
      throw new CliFailure(
          ExitCode.USAGE, "--token and --token-file (expected: one of them, or none)");
    }
    String shown = emptyToNull(variables.get("EVENTBUS_TOKEN"));
    if (token != null) {
      shown = token;
    } else if (tokenFile != null) {
      shown = TokenFile.read(tokenFile);
    }
    String name = user != null ? user : emptyToNull(variables.get("EVENTBUS_USER"));
    if (name == null) {
      builder.token(shown);
    } else if (shown == null) {
      throw new CliFailure(
          ExitCode.USAGE,
          "user " + name + " without a password (expected: --token-file, or $EVENTBUS_TOKEN)");
    } else {
      builder.credentials(name, shown);
    }
  }

  private List<String> addresses(Map<String, String> variables) {
    if (!urls.isEmpty()) {
      return urls;
    }
    String variable = emptyToNull(variables.get("EVENTBUS_URL"));
    return List.of(variable == null ? DEFAULT_URL : variable);
  }

  /** Completes an address that is not a whole URL. */
  static URI uri(String address) {
    URI uri = URI.create(address.contains("://") ? address : "ws://" + address);
    if (uri.getHost() != null && uri.getRawPath().isEmpty()) {
      boolean plain = uri.getPort() < 0 && !address.contains("://");
      uri = URI.create(uri + (plain ? ":8080" : "") + "/bus");
    }
    return uri;
  }

  private static @Nullable String emptyToNull(@Nullable String text) {
    return text == null || text.isEmpty() ? null : text;
  }
}
