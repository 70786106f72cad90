package io.eventbus.registry.faults;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import io.eventbus.raft.GateLimits;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.membership.LeaseKeeper;
import io.eventbus.registry.ratis.RatisRegistry;
import io.eventbus.registry.ratis.RatisRegistryOptions;
import io.eventbus.registry.state.RegistryLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Registry of a bus as a process of its own, as a bus would run it, with standard input and output
 * as its only door for the test: {@link BusCommands} lists the input.
 *
 * <p>An output line begins with the number of the request, or with {@code !} if nobody asked for
 * it: {@code ready}, {@code started}, {@code failed}, {@code ended}, {@code life}, {@code state},
 * {@code back}. All times are {@link System#nanoTime()}, which on Linux is one clock for all
 * processes of a machine.
 */
final class BusProcess {
  private final PrintStream out;
  private final JumpingClock clock = new JumpingClock();
  private final LinkNode links;
  private final RatisRegistry registry;
  private final LeaseKeeper keeper;

  /** Newest version that was seen here, for the check that nothing goes back. */
  private final AtomicLong newest = new AtomicLong();

  private BusProcess(BusSettings settings, PrintStream out) throws IOException {
    this.out = out;
    this.links =
        new LinkNode(
            LinkOptions.DEFAULT, new LinkIdentity(settings.name(), ""), LinkSecurity.none());
    InetSocketAddress bound = links.listen(new InetSocketAddress(settings.host(), settings.port()));
    Endpoint address = new Endpoint(settings.host(), bound.getPort());
    say("! ready " + bound.getPort());
    this.registry =
        new RatisRegistry(
            new RatisRegistryOptions(
                Path.of(settings.directory()),
                new BusId(settings.name()),
                address,
                settings.seeds(),
                settings.voters(),
                Duration.ofMillis(settings.replaceVoterAfterMillis()),
                new RegistryLimits(64, 20_000, settings.rememberedCommands()),
                GateLimits.DEFAULT,
                Duration.ofMillis(300),
                Duration.ofMillis(600),
                settings.snapshotEntries(),
                16),
            links,
            clock);
    BusDescription description =
        new BusDescription(
            new BusId(settings.name()),
            new BusAddresses(List.of("ws://127.0.0.1:8080/bus"), address, null, address),
            "default",
            "1.0",
            1,
            0);
    this.keeper =
        new LeaseKeeper(
            registry,
            description,
            Duration.ofMillis(settings.leaseMillis()),
            true,
            life -> say("! life " + life.number() + " " + life.epoch()));
  }

  private synchronized void say(String line) {
    out.print(line + "\n");
    out.flush();
  }

  /** Runs until its input ends, so that it does not outlive its parent. */
  private void run() throws IOException {
    registry.addListener((snapshot, changes) -> told(snapshot));
    var unused =
        registry
            .start()
            .whenComplete(
                (nothing, error) -> {
                  if (error == null) {
                    say("! started " + registry.status().cluster());
                    keep();
                  } else if (registry.lifecycle() != RegistryLifecycle.FAILED
                      || !String.valueOf(error.getMessage()).contains("the engine has ended")) {
                    say("! failed " + BusCommands.oneLine(error));
                  }
                });
    Thread guard = new Thread(this::endWhenFailed, "guard");
    guard.setDaemon(true);
    guard.start();
    BusCommands commands = new BusCommands(registry, clock, this::seen, this::say);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      commands.handle(line);
    }
  }

  private void keep() {
    var registered = keeper.start().toCompletableFuture();
    var up = keeper.become(BusState.UP).toCompletableFuture();
    var unused = CompletableFuture.allOf(registered, up);
  }

  /**
   * Ends the process when its registry has failed for good, as a bus does, so that a supervisor
   * starts it again.
   */
  private void endWhenFailed() {
    try {
      while (registry.lifecycle() != RegistryLifecycle.FAILED) {
        TimeUnit.MILLISECONDS.sleep(100);
      }
      say("! ended");
      Runtime.getRuntime().halt(3);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void told(RegistrySnapshot snapshot) {
    long now = System.nanoTime();
    say("! state " + snapshot.version() + " " + now + " " + digest(snapshot));
    seen(snapshot);
  }

  /** Takes note of a snapshot that was read; it must not be older than one that was read before. */
  private void seen(RegistrySnapshot snapshot) {
    newest.accumulateAndGet(snapshot.version(), Math::max);
    long before = newest.get();
    long now = registry.snapshot().version();
    if (now < before) {
      say("! back " + before + " " + now);
    }
  }

  /** Returns the same number for the same registry, in every process. */
  static int digest(RegistrySnapshot snapshot) {
    List<String> parts = new ArrayList<>();
    snapshot
        .topics()
        .forEach(t -> parts.add(t.name() + t.created() + "/" + t.revision() + t.settings()));
    snapshot
        .buses()
        .forEach(b -> parts.add(b.number() + "/" + b.epoch() + b.state().name() + b.lease()));
    return (snapshot.version() + "@" + snapshot.timeMillis() + parts).hashCode();
  }

  /**
   * Starts.
   *
   * @throws IOException if the port cannot be bound
   */
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BusProcess process = null;
    try {
      process = new BusProcess(BusSettings.parse(args), out);
      process.run();
    } finally {
      // As abruptly as everything else here.
      Runtime.getRuntime().halt(process == null ? 1 : 0);
    }
  }
}
