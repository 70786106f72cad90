package io.eventbus.server.admin;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.admission.AuthenticationFailures;
import io.eventbus.server.admission.ClientAddress;
import io.eventbus.server.security.Origin;
import io.eventbus.server.security.Origin.Standing;
import java.net.InetAddress;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Callers with credentials: how many of each address are checked or wait for an answer. Those that
 * have lately shown wrong ones get it a second late, without a thread that waits. Each standing has
 * places of its own, so that guessers take none of the others. Any thread.
 */
final class LateAnswers implements AutoCloseable {
  /**
   * Maximum of credentials of an address that are checked or wait; further ones are refused then.
   */
  static final int MAX_OF_ADDRESS = 8;

  /** Maximum of all addresses of one standing together. */
  static final int MAX_OF_STANDING = 32;

  private static final long DELAY_MILLIS = 1_000;

  private final AuthenticationFailures failures;
  private final ProvedAddresses proved;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<ClientAddress, Integer> waiting = new HashMap<>();
  private final Map<Standing, Integer> ofStanding = new EnumMap<>(Standing.class);

  /** Place of credentials that are checked, or wait for their answer. */
  record Place(InetAddress client, ClientAddress address, Standing standing) {}

  /** Creates the places of a server. */
  LateAnswers(ProvedAddresses proved) {
    this(
        new AuthenticationFailures(
            new RateLimitedLog(LoggerFactory.getLogger("eventbus.audit")), System::nanoTime),
        proved,
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "eventbus-admin-late");
              thread.setDaemon(true);
              return thread;
            }));
  }

  LateAnswers(
      AuthenticationFailures failures, ProvedAddresses proved, ScheduledThreadPoolExecutor timer) {
    this.failures = failures;
    this.proved = proved;
    this.timer = timer;
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Acquires a place for credentials to be checked; {@link #leave} or {@link #answer} releases it.
   * Returns null if there is none.
   */
  @Nullable Place enter(InetAddress client) {
    ClientAddress address = ClientAddress.of(client);
    Standing standing =
        proved.contains(address)
            ? Standing.PROVED
            : failures.isAny(client) ? Standing.FAILED : Standing.UNKNOWN;
    synchronized (this) {
      if (ofStanding.getOrDefault(standing, 0) >= MAX_OF_STANDING
          || waiting.getOrDefault(address, 0) >= MAX_OF_ADDRESS) {
        return null;
      }
      ofStanding.merge(standing, 1, Integer::sum);
      waiting.merge(address, 1, Integer::sum);
    }
    return new Place(client, address, standing);
  }

  /** Returns the address of a caller with a place, and whether its answer would be late now. */
  Origin origin(Place place) {
    return new Origin(place.address(), failures.isMany(place.client()), place.standing());
  }

  /** Keeps places for an address from now on: somebody there has right credentials. */
  void prove(InetAddress client) {
    proved.add(ClientAddress.of(client));
  }

  /** Releases the place of credentials that are not wrong. */
  synchronized void leave(Place place) {
    ofStanding.merge(place.standing(), -1, Integer::sum);
    waiting.computeIfPresent(place.address(), (key, count) -> count == 1 ? null : count - 1);
  }

  /**
   * Notes that credentials with a place are wrong, and answers: now, or late.
   *
   * @param why what is wrong with them, as it goes on after "a client"
   * @param answer called once, by this thread or another; must not block for long
   */
  void answer(Place place, String why, Runnable answer) {
    if (!failures.note(place.client(), why + ", at the administration port")) {
      leave(place);
      answer.run();
      return;
    }
    try {
      var unused =
          timer.schedule(
              () -> {
                leave(place);
                answer.run();
              },
              DELAY_MILLIS,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
      leave(place);
      answer.run();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
