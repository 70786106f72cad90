package io.eventbus.server.federation.interest;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.federation.interest.PeerInterest.Outcome;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.AccountEntry;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.InterestEntry;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.subscription.LocalSubscriptions;
import io.eventbus.server.subscription.RemoteBus;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Interest announced by one bus is the interest known by the other. */
class InterestTest {
  private static final RemoteBus BUS =
      new RemoteBus() {
        @Override
        public String toString() {
          return "bus b";
        }
      };

  private final AtomicInteger changes = new AtomicInteger();
  private final LocalInterest local = new LocalInterest(changes::incrementAndGet);
  private final PeerInterest peer =
      new PeerInterest(
          BUS, new SubscriptionIndex(1).accounts(), 1_000, (account, service, serves) -> {});
  private final FakeSubscriber subscriber = new FakeSubscriber(0);

  private RoutedSubscription subscription(
      String filter, @Nullable String group, Overflow overflow) {
    return new RoutedSubscription(subscriber, 1, TopicFilter.parse(filter), group, overflow);
  }

  private static Interest read(byte[] frame) {
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(frame), 0, frame.length);
    assertThat(cursor.next()).isTrue();
    return PeerFrames.interest(ByteBuffer.wrap(frame), cursor.bodyStart(), cursor.bodyEnd());
  }

  private @Nullable Outcome announce(List<byte[]> frames) {
    Outcome last = null;
    for (byte[] frame : frames) {
      last = peer.take(read(frame));
    }
    return last;
  }

  @Test
  void announcesOnlyTheFirstAndTheLastOfAFilter() {
    RoutedSubscription one = subscription("a.b", null, Overflow.DROP_OLDEST);
    RoutedSubscription two = subscription("a.b", null, Overflow.DROP_OLDEST);
    local.added(one);
    local.added(two);
    assertThat(changes).hasValue(1);
    assertThat(local.version()).isEqualTo(1);
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    assertThat(announce(local.increment())).isEqualTo(Outcome.APPLIED);
    local.removed(one);
    assertThat(local.increment()).isEmpty();
    local.removed(two);
    assertThat(announce(local.increment())).isEqualTo(Outcome.APPLIED);
    assertThat(peer.size()).isZero();
    assertThat(local.size()).isZero();
  }

  @Test
  void aWithdrawnMemberIsRemovedOnce() {
    RoutedSubscription leaving = subscription("a.b", "g", Overflow.BLOCK);
    RoutedSubscription staying = subscription("a.b", "g", Overflow.BLOCK);
    local.added(leaving);
    local.withdrawn(leaving);
    local.withdrawn(leaving);
    assertThat(local.size()).isZero();
    local.added(staying);
    local.removed(leaving);
    assertThat(local.contains("", "a.b", "g")).isTrue();
    local.removed(staying);
    assertThat(local.size()).isZero();
  }

  @Test
  void announcesTheStrictestPolicy() {
    RoutedSubscription dropping = subscription("a.b", null, Overflow.DROP_OLDEST);
    local.added(dropping);
    local.added(subscription("a.b", null, Overflow.BLOCK));
    Interest announced = read(local.whole().get(0));
    assertThat(announced.getEntries())
        .containsExactly(new InterestEntry("a.b", null, PolicyCode.of(Overflow.BLOCK)));
  }

  @Test
  void aMismatchIsFoundAndRepairedByTheWhole() {
    local.added(subscription("a", null, Overflow.BLOCK));
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    local.increment();
    local.added(subscription("lost", null, Overflow.BLOCK));
    // This one never arrives.
    local.increment();
    local.added(subscription("b", "g", Overflow.BLOCK));
    assertThat(announce(local.increment())).isEqualTo(Outcome.MISMATCH);
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    assertThat(peer.size()).isEqualTo(3);
  }

  @Test
  void keepsASeparateDigestForAccounts() {
    LocalSubscriptions acme = local.ofAccount("acme");
    RoutedSubscription gone = subscription("a", null, Overflow.BLOCK);
    local.added(subscription("a", null, Overflow.BLOCK));
    acme.added(gone);
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    local.increment();
    acme.added(subscription("lost", null, Overflow.BLOCK));
    // This one never arrives.
    local.increment();
    acme.added(subscription("b", "g", Overflow.BLOCK));
    assertThat(announce(local.increment())).isEqualTo(Outcome.MISMATCH);
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    assertThat(peer.size()).isEqualTo(4);
    acme.removed(gone);
    assertThat(announce(local.increment())).isEqualTo(Outcome.APPLIED);
    assertThat(local.contains("", "a", null)).as("of the default account").isTrue();
    assertThat(peer.size()).isEqualTo(3);
  }

  @Test
  void announcesTheDefaultAccountUnchangedToOldBuses() {
    LocalInterest alone = new LocalInterest(() -> {});
    for (LocalInterest each : List.of(alone, local)) {
      each.added(subscription("a.>", null, Overflow.BLOCK));
      each.added(subscription("b", "g", Overflow.CONFLATE));
    }
    local.ofAccount("acme").added(subscription("a.>", null, Overflow.BLOCK));
    Interest announced = read(local.whole().get(0));
    assertThat(announced.getEntries())
        .containsExactlyInAnyOrderElementsOf(read(alone.whole().get(0)).getEntries());
    assertThat(announced.getDigest()).isEqualTo(read(alone.whole().get(0)).getDigest());
    assertThat(announced.getAccountEntries())
        .containsExactly(new AccountEntry("acme", "a.>", null, PolicyCode.of(Overflow.BLOCK)));
  }

  @Test
  void separatesServicesBroadcastsAndAccounts() {
    List<String> served = new ArrayList<>();
    PeerInterest listening =
        new PeerInterest(
            BUS,
            new SubscriptionIndex(1).accounts(),
            10,
            (account, service, serves) -> served.add(account + "/" + service + " " + serves));
    RoutedSubscription broadcasts = subscription("$SRV.s", null, Overflow.DROP_OLDEST);
    LocalSubscriptions acme = local.ofAccount("acme");
    acme.added(broadcasts);
    local.serves("acme", "s", true);
    local.serves("", "s", true);
    assertThat(local.serves("other", "s")).isFalse();
    Interest announced = read(local.whole().get(0));
    assertThat(announced.getEntries()).extracting(InterestEntry::getGroup).containsExactly("+");
    assertThat(announced.getAccountEntries())
        .extracting(AccountEntry::getGroup)
        .containsExactlyInAnyOrder(null, "+");
    assertThat(listening.take(announced)).isEqualTo(Outcome.APPLIED);
    assertThat(served).containsExactlyInAnyOrder("acme/s true", "/s true");
    local.increment();
    served.clear();
    local.serves("acme", "s", false);
    assertThat(listening.take(read(local.increment().get(0)))).isEqualTo(Outcome.APPLIED);
    assertThat(served).containsExactly("acme/s false");
    acme.removed(broadcasts);
    assertThat(listening.take(read(local.increment().get(0)))).isEqualTo(Outcome.APPLIED);
    assertThat(served).hasSize(1);
    assertThat(listening.size()).isEqualTo(1);
  }

  @Test
  void anIncrementBeforeTheWholeIsRefused() {
    local.added(subscription("a", null, Overflow.BLOCK));
    assertThat(announce(local.increment())).isEqualTo(Outcome.MISMATCH);
    assertThat(peer.isKnown()).isFalse();
  }

  @Test
  void anyHistoryEndsInTheSame() {
    Random random = new Random(11);
    List<RoutedSubscription> open = new ArrayList<>();
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    for (int step = 0; step < 20_000; step++) {
      if (!open.isEmpty() && random.nextInt(100) < 48) {
        local.removed(open.remove(random.nextInt(open.size())));
      } else {
        RoutedSubscription s =
            subscription(
                "t." + random.nextInt(40) + (random.nextBoolean() ? ".>" : ""),
                random.nextInt(3) == 0 ? "g" + random.nextInt(3) : null,
                PolicyCode.overflow(random.nextInt(PolicyCode.COUNT)));
        open.add(s);
        local.added(s);
      }
      if (random.nextInt(5) == 0) {
        assertThat(announce(local.increment())).isIn(Outcome.APPLIED, null);
        assertThat(peer.size()).isEqualTo(local.size());
      }
      if (random.nextInt(100) == 0) {
        peer.clear();
        assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
        assertThat(peer.size()).isEqualTo(local.size());
      }
    }
  }

  @Test
  void manyFiltersComeInParts() {
    for (int i = 0; i < 999; i++) {
      local.added(subscription("many." + i + ".aaaaaaaaaaaa", null, Overflow.BLOCK));
    }
    local.added(subscription("one.more", null, Overflow.BLOCK));
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    assertThat(peer.size()).isEqualTo(1_000);
  }

  @Test
  void farTooManyFiltersAreIgnoredUntilThereIsRoom() {
    List<RoutedSubscription> all = new ArrayList<>();
    for (int i = 0; i < 2_001; i++) {
      all.add(subscription("many." + i, null, Overflow.BLOCK));
      local.added(all.get(i));
    }
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    assertThat(peer.size()).isEqualTo(2_000);
    local.increment();
    // The new filter precedes, in the increment, the removal that makes room.
    local.added(subscription("new", null, Overflow.BLOCK));
    local.removed(all.get(0));
    local.removed(all.get(1));
    assertThat(announce(local.increment())).isEqualTo(Outcome.MISMATCH);
    assertThat(announce(local.whole())).isEqualTo(Outcome.APPLIED);
    assertThat(peer.size()).isEqualTo(2_000);
    assertThat(peer.size()).isEqualTo(local.size());
  }

  @Test
  void resumesASuspendedPeer() {
    SubscriptionIndex index = new SubscriptionIndex(1);
    PeerInterest suspended =
        new PeerInterest(BUS, index.accounts(), 10, (account, service, serves) -> {});
    long empty = index.bytes();
    local.added(subscription("a.b", null, Overflow.BLOCK));
    assertThat(suspended.take(read(local.whole().get(0)))).isEqualTo(Outcome.APPLIED);
    long one = index.bytes();
    assertThat(one).isGreaterThan(empty);
    suspended.suspend();
    assertThat(index.bytes()).isEqualTo(empty);
    suspended.resume();
    assertThat(index.bytes()).isEqualTo(one);
    suspended.clear();
    assertThat(index.bytes()).isEqualTo(empty);
    assertThat(index.size()).as("subscriptions of clients").isZero();
  }
}
