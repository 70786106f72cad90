package io.eventbus.cli.cluster;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Text;
import io.eventbus.cli.console.TrustedCertificates;
import io.eventbus.server.config.AdminAccessConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options with the bus to ask, and the format of its answer. */
final class RegistryOptions {
  private static final int MAX_PASSWORD = 4_096;
  private static final String DEFAULT_URL = "http://localhost:8081";

  @Option(
      names = {"-a", "--admin"},
      paramLabel = "URL",
      description = {
        "Administration port of a bus: host:port or a whole http:// or https:// URL.",
        "Default: $EVENTBUS_ADMIN_URL, or " + DEFAULT_URL + "."
      })
  @Nullable String admin;

  @Option(
      names = "--admin-token-file",
      paramLabel = "FILE",
      description = {
        "File with the token of an administrator.",
        "Default: $EVENTBUS_ADMIN_TOKEN_FILE, or the token itself in $EVENTBUS_ADMIN_TOKEN."
      })
  @Nullable Path tokenFile;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "User of the bus's users file to ask as, instead of with a token.")
  @Nullable String user;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = "File with the user's password in its first line.")
  @Nullable Path passwordFile;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "PEM file with certificates to trust for https, instead of Java's own.")
  @Nullable Path ca;

  @Option(names = "--json", description = "Prints what the bus answers, as JSON.")
  boolean json;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "15s",
      description = "How long to wait for an answer (default: ${DEFAULT-VALUE}).")
  Duration timeout = Duration.ofSeconds(15);

  /**
   * Prepares requests; nothing is sent yet.
   *
   * @throws CliFailure if the address is none
   */
  RegistryHttp http(CliContext context) {
    return http(context, "/api/v1/registry");
  }

  /** Prepares requests for resources outside the registry. */
  RegistryHttp api(CliContext context) {
    return http(context, "/api/v1");
  }

  /** Returns the value of the header of that name; null for none. */
  private @Nullable String authorization(CliContext context) {
    if ((user == null) != (passwordFile == null)) {
      throw new CliFailure(
          ExitCode.USAGE,
          user == null
              ? "--password-file without --user (expected: both)"
              : "--user without --password-file (expected: both)");
    }
    if (user == null || passwordFile == null) {
      String token = token(context);
      return token == null ? null : "Bearer " + token;
    }
    if (user.indexOf(':') >= 0) {
      throw new CliFailure(ExitCode.USAGE, "--user: a colon (expected: a name without one)");
    }
    String pair = user + ":" + password(passwordFile);
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  private static String password(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      String text = new String(in.readNBytes(MAX_PASSWORD), StandardCharsets.UTF_8);
      return text.lines().findFirst().orElse("");
    } catch (IOException e) {
      throw new CliFailure(ExitCode.USAGE, "--password-file " + file + " cannot be read: " + e, e);
    }
  }

  private @Nullable String token(CliContext context) {
    String variable = context.variables().getOrDefault("EVENTBUS_ADMIN_TOKEN_FILE", "");
    Path file = tokenFile != null ? tokenFile : variable.isEmpty() ? null : Path.of(variable);
    String text = context.variables().getOrDefault("EVENTBUS_ADMIN_TOKEN", "");
    try {
      return AdminAccessConfig.token(file != null || text.isEmpty() ? null : text, file)
          .read()
          .orElse(null);
    } catch (IllegalArgumentException e) {
      throw new CliFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private RegistryHttp http(CliContext context, String root) {
    return new RegistryHttp(
        uri(context),
        root,
        timeout,
        authorization(context),
        ca == null ? null : TrustedCertificates.context(ca));
  }

  private URI uri(CliContext context) {
    String variable = context.variables().getOrDefault("EVENTBUS_ADMIN_URL", "");
    String given = admin != null ? admin : variable.isEmpty() ? DEFAULT_URL : variable;
    String whole = given.contains("://") ? given : "http://" + given;
    try {
      URI uri = URI.create(whole.endsWith("/") ? whole.substring(0, whole.length() - 1) : whole);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (http && uri.getHost() != null && uri.getRawQuery() == null) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Told below.
    }
    throw new CliFailure(
        ExitCode.USAGE, "--admin: " + Text.printable(given) + " (expected: host:port or a URL)");
  }
}
