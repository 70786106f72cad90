package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.EventBusClient;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.faults.power.PowerSystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bus with a data directory, for losses of power. */
public final class BusPower implements PowerSystem {
  private static final String TOPIC = "load.0";
  private static final int KEY_BYTES = 32;

  private final @Nullable Path jar;
  private final List<String> jvmOptions;

  /**
   * Creates it; starts nothing.
   *
   * @param jar of the bus; null for the one on the class path
   */
  public BusPower(@Nullable Path jar, List<String> jvmOptions) {
    this.jar = jar;
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "eventbus";
  }

  @Override
  public Availability availability() {
    return new EventBusDriver(name(), jar, jvmOptions).availability();
  }

  @Override
  public Server start(Path data) {
    Path key = newKey();
    LoadTestBus bus =
        new LoadTestBus(
            name(),
            jar,
            jvmOptions,
            List.of(
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--admin-port",
                "0",
                "--data",
                data.toString(),
                "--set",
                "auth.resume-key-file=" + key));
    try {
      bus.start();
      bus.awaitListening();
      // The same command again changes nothing.
      bus.admin().createJournal(BusJournal.NAME, "load.>");
      return new RunningServer(bus);
    } catch (RuntimeException e) {
      bus.abandon();
      throw e;
    } finally {
      // Then the bus has read it.
      delete(key);
    }
  }

  /** Writes a key, so that the bus looks for none in the user's home. Each client is a new one. */
  private static Path newKey() {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    try {
      return Files.write(Files.createTempFile("loadtest-resume-", ".key"), key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record RunningServer(LoadTestBus bus) implements Server {
    @Override
    public DriverJournal journal() {
      return new BusJournal(connect("publisher"), connect("reader"), TOPIC, this::worker);
    }

    private EventBusClient worker(int number) {
      return connect("worker-" + number);
    }

    private EventBusClient connect(String name) {
      return EventBusClient.builder()
          .url(bus.url())
          .name(name)
          .confirmTimeout(Duration.ofSeconds(30))
          .connect();
    }

    @Override
    public void pause() {
      bus.pause();
    }

    @Override
    public void kill() {
      bus.abandon();
    }

    @Override
    public void close() {
      bus.abandon();
    }
  }
}
