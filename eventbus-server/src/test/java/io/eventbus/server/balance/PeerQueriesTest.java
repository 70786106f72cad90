package io.eventbus.server.balance;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkService;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A call that throws, for want of memory above all, has failed. */
class PeerQueriesTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final Failing calls = new Failing();
  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
  private final LoadExchange peers = new LoadExchange("a", registry, calls, () -> 0);

  /** Calls that throw on demand. */
  private static final class Failing implements PeerQueries {
    private @Nullable Error error;
    private int made;

    @Override
    public CompletableFuture<byte[]> call(
        InetSocketAddress address, String channel, int service, byte[] request, Duration deadline) {
      made++;
      if (error != null) {
        throw error;
      }
      return new CompletableFuture<>();
    }

    @Override
    public void offer(int number, LinkService service) {}

    @Override
    public void withdraw(int number) {}
  }

  PeerQueriesTest() throws Exception {
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    CommandResult.BusRegistered b =
        registry
            .submit(
                new BusCommand.Register(
                    new BusDescription(
                        new BusId("b"),
                        new BusAddresses(
                            List.of("ws://127.0.0.1:1/bus"),
                            new Endpoint("127.0.0.1", 1),
                            null,
                            null),
                        "default",
                        "1.0",
                        1,
                        0),
                    0,
                    DEADLINE.toMillis()),
                DEADLINE)
            .toCompletableFuture()
            .get(60, TimeUnit.SECONDS)
            .expect(CommandResult.BusRegistered.class);
    var unused =
        registry
            .submit(new BusCommand.ChangeState(new BusId("b"), b.epoch(), BusState.UP), DEADLINE)
            .toCompletableFuture()
            .get(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    registry.close();
  }

  @Test
  void exceptionsCompleteTheFuture() {
    calls.error = new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory");
    InetSocketAddress nowhere = InetSocketAddress.createUnresolved("127.0.0.1", 1);
    assertThat(calls.ask(nowhere, BalanceMessages.LOAD, new byte[1], DEADLINE))
        .failsWithin(DEADLINE)
        .withThrowableOfType(ExecutionException.class)
        .withCause(calls.error);
  }

  @Test
  void aBusThatCouldNotBeAskedIsAskedTheNextTime() {
    BalanceMessages.Load own = new BalanceMessages.Load(0.5, 1, false, false);
    calls.error = new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory");
    peers.exchange(own);
    assertThat(calls.made).isEqualTo(1);
    calls.error = null;
    peers.exchange(own);
    assertThat(calls.made).isEqualTo(2);
    peers.exchange(own);
    assertThat(calls.made).as("the last one is under way").isEqualTo(2);
  }
}
