package io.eventbus.loadtest.attack.run;

import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.BusAddress;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.driver.TokenIssuer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A bus in a process of its own, from any jar. For one thread. */
final class AttackedBus implements AutoCloseable {
  private static final Pattern LISTENS =
      Pattern.compile("listens on (wss?://\\S+), administration on (http://\\S+)");
  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");
  private static final Duration START = Duration.ofSeconds(60);
  private static final int WARNS_OF_NATIVE_CODE = 22;
  private static final int WARNS_OF_UNSAFE = 23;
  private static final String LIMITED = "ulimit -n \"$0\"; exec \"$@\"";

  private final ServerProcess process;
  private final BusAddress address;
  private final BusAddress attacked;

  private AttackedBus(ServerProcess process, BusAddress address, BusAddress attacked) {
    this.process = process;
    this.address = address;
    this.attacked = attacked;
  }

  static AttackedBus start(BusSpec spec, Needs needs, Path directory) throws Exception {
    List<String> command = new ArrayList<>();
    if (needs.descriptors() > 0) {
      // A jar raises its soft limit up to the hard one, so both are set.
      command.addAll(List.of("bash", "-c", LIMITED, Integer.toString(needs.descriptors())));
    }
    command.add(spec.javaHome().resolve("bin").resolve("java").toString());
    command.addAll(List.of("-Xmx" + spec.heap(), "-XX:+ExitOnOutOfMemoryError"));
    command.addAll(permissions(spec.javaHome()));
    command.addAll(List.of("-jar", spec.jar().toString(), "serve", "--host", BusAddress.HOST));
    command.addAll(List.of("--port", "0", "--admin-host", BusAddress.HOST, "--admin-port", "0"));
    Map<String, String> settings = new TreeMap<>(needs.settings());
    if (needs.tls()) {
      ServerCertificate certificate = ServerCertificate.make(directory);
      settings.put("tls.certificate", certificate.chain().toString());
      settings.put("tls.key", certificate.key().toString());
    }
    String honest = needs.token();
    String hostile = needs.token();
    if (!needs.roles().isEmpty()) {
      TokenIssuer issuer = new TokenIssuer(directory, System.currentTimeMillis() / 1000);
      Path roles = Files.writeString(directory.resolve("roles.conf"), needs.roles());
      settings.putAll(issuer.settings());
      settings.put("auth.roles-file", roles.toString());
      honest = issuer.token("honest", "honest", "");
      hostile = issuer.token("hostile", "hostile", "");
    }
    settings.putAll(spec.settings());
    settings.forEach((key, value) -> command.addAll(List.of("--set", key + "=" + value)));
    Map<String, String> secrets =
        needs.token().isEmpty() ? Map.of() : Map.of("EVENTBUS_AUTH_TOKEN", needs.token());
    ServerProcess process = ServerProcess.start("bus", command, secrets);
    try {
      Matcher listens = process.awaitOutput(LISTENS, START);
      URI clients = URI.create(listens.group(1));
      URI admin = URI.create(listens.group(2));
      BusAddress address =
          new BusAddress(
              clients.getPort(), clients.getPath(), admin.getPort(), needs.tls(), honest);
      return new AttackedBus(process, address, address.withToken(hostile));
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }

  private static List<String> permissions(Path javaHome) {
    try {
      Matcher version = VERSION.matcher(Files.readString(javaHome.resolve("release")));
      int major = version.find() ? Integer.parseInt(version.group(1)) : 0;
      List<String> options = new ArrayList<>();
      if (major >= WARNS_OF_NATIVE_CODE) {
        options.add("--enable-native-access=ALL-UNNAMED");
      }
      if (major >= WARNS_OF_UNSAFE) {
        options.add("--sun-misc-unsafe-memory-access=allow");
      }
      return options;
    } catch (IOException e) {
      throw new UncheckedIOException("no JDK in " + javaHome, e);
    }
  }

  BusAddress address() {
    return address;
  }

  /** Returns the address with what attackers show. */
  BusAddress attacked() {
    return attacked;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Returns how it has ended, -1 while it runs. */
  int exitCode() {
    return process.exitCode();
  }

  /** Counts the lines of its log. */
  long logLines() {
    return process.outputLines();
  }

  /** Returns the end of its log. */
  String tail() {
    return process.tail();
  }

  /** Ends it by force: what it would still deliver is of no interest. */
  @Override
  public void close() {
    process.kill();
    process.close();
  }
}
