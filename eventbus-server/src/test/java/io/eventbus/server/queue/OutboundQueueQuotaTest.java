package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import io.eventbus.server.transport.QueueHandler;
import io.eventbus.server.transport.Wire;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Queue whose identity may hold less than it itself may. */
class OutboundQueueQuotaTest {
  private static final long QUOTA = 256 * 1024;
  private static final int BYTES = 1000;
  private static final long PART = QUOTA / 2;

  private final Wire wire = new Wire(Wire.queue("1MiB"));
  private final QueueHandler handler = wire.connectQueue();
  private final OutboundQueue queue = handler.queue;
  private final QuotaAccounts accounts = new QuotaAccounts(new Advisories(), System::nanoTime);
  private final ConnectionQuota own = share();
  private final ConnectionQuota sibling = share();
  private long sequence;

  private ConnectionQuota share() {
    ClientQuotas quotas =
        new ClientQuotas(new Quotas(Map.of(Quota.QUEUE_BYTES, QUOTA)), Quotas.NONE);
    Principal who =
        new Principal("a", "u", AuthenticationMethod.JWT, Permissions.NONE, quotas, null, null);
    QuotaAccounts.Entry entry = accounts.enter(who, false);
    return Objects.requireNonNull(((QuotaAccounts.Entry.Open) entry).share());
  }

  @AfterEach
  void everythingIsGivenBack() {
    wire.assertNothingHeld();
    own.close();
    sibling.close();
    assertThat(accounts.list(0, 10)).isEmpty();
  }

  private void offer(int events, Overflow overflow) {
    handler.offer(sequence + 1, events, BYTES, overflow);
    sequence += events;
  }

  @Test
  void isCutToItsPartWhileAllHoldTooMuch() {
    queue.share(own);
    wire.stick();
    sibling.holds(QUOTA);
    offer(600, Overflow.DROP_OLDEST);
    assertThat(queue.bytes()).isBetween(PART / 2, PART + PART / 4);
    assertThat(queue.dropped()).isPositive();
    sibling.holds(0);
    long before = queue.dropped();
    offer(50, Overflow.DROP_OLDEST);
    assertThat(queue.dropped()).as("there is room again").isEqualTo(before);
  }

  @Test
  void theFirstEventOfAQueueAlwaysFits() {
    queue.share(own);
    sibling.holds(100 * QUOTA);
    wire.stick();
    offer(1, Overflow.DROP_OLDEST);
    assertThat(queue.dropped()).isZero();
  }

  @Test
  void publishersGoOnWhenOthersHaveRead() {
    queue.share(own);
    wire.stick();
    sibling.holds(QUOTA);
    AtomicInteger woken = new AtomicInteger();
    while (!queue.isFull()) {
      offer(1, Overflow.BLOCK);
      assertThat(queue.bytes()).isLessThan(2 * PART);
    }
    queue.whenNotFull(woken::incrementAndGet);
    queue.onTick(System.nanoTime());
    assertThat(woken.get()).isZero();
    sibling.holds(0);
    queue.onTick(System.nanoTime());
    assertThat(queue.isFull()).isFalse();
    assertThat(woken.get()).isEqualTo(1);
    assertThat(handler.tooSlow).isEmpty();
  }

  @Test
  void withoutQuotasItsBoundIsItsOwn() {
    queue.share(own);
    wire.stick();
    sibling.holds(QUOTA);
    queue.share(null);
    offer(600, Overflow.DROP_OLDEST);
    assertThat(queue.dropped()).isZero();
  }
}
