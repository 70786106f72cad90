package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.internal.InternalClient;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Accounts that hear the bus's own events. */
class AccountEventsProperties {
  private static final Clock CLOCK = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);
  private static final List<String> ACCOUNTS = List.of("", "a", "b", "ops");
  private static final String EVENTS = "$SYS.bus.bus-1.events";

  sealed interface Step {}

  /** Subscription of an account's observer, or its end if there is one. */
  record Toggle(String account) implements Step {}

  record Tell(Advisory advisory) implements Step {}

  private record Observer(
      SubscriptionIndex index, RoutedSubscription filter, FakeSubscriber client) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<String> account = Arbitraries.of(ACCOUNTS);
    Arbitrary<Step> toggle = account.map(Toggle::new);
    Arbitrary<Step> told =
        Arbitraries.oneOf(
                account.map(a -> new Advisory.ClientConnected(1, "", "", "", "", a, "", "jwt")),
                account.map(
                    a -> new Advisory.ClientDisconnected(1, "", "", "", a, Instant.EPOCH, 1, 1)),
                Combinators.combine(account, Arbitraries.of("u1").injectNull(0.5))
                    .as((a, s) -> new Advisory.QuotaReached(a, s, false, "connections", 1, 1)),
                Arbitraries.of(true, false).map(Advisory.DrainChanged::new))
            .map(Tell::new);
    return Arbitraries.oneOf(toggle, told, told).list().ofMaxSize(40);
  }

  @Property(tries = 300)
  void anAccountHearsOfItsOwnClientsAndOperatorsOfAll(
      @ForAll("steps") List<Step> steps, @ForAll boolean hasOperators) {
    new OneBus().run(steps, hasOperators);
  }

  /** Run of the properties. */
  private static final class OneBus {
    private final FakeLoops loops = new FakeLoops(1);
    private final SubscriptionIndex index = new SubscriptionIndex(1);
    private final Router router =
        new Router(
            0,
            loops,
            index,
            new UnpooledByteBufAllocator(true),
            new BusMemory(1 << 30),
            new LoopStats(),
            RemoteForwarder.NONE,
            () -> {});
    private final LongAdder dropped = new LongAdder();
    private final Map<String, Observer> observers = new HashMap<>();
    private long producers;

    private void toggle(String account) {
      Observer there = observers.remove(account);
      if (there != null) {
        there.index().remove(there.filter());
        there.index().accounts().leave(there.index());
        return;
      }
      SubscriptionIndex entered = Objects.requireNonNull(index.accounts().enter(account, 9));
      FakeSubscriber client = new FakeSubscriber(0);
      RoutedSubscription filter =
          new RoutedSubscription(client, 1, TopicFilter.parse("$SYS.>"), null, Overflow.BLOCK);
      entered.add(filter);
      observers.put(account, new Observer(entered, filter, client));
    }

    private static boolean sees(String observer, @Nullable String account, boolean hasOperators) {
      boolean seesAll = observer.isEmpty() || (hasOperators && observer.equals("ops"));
      return seesAll || observer.equals(account);
    }

    private void check(Advisory told, boolean hasOperators) {
      observers.forEach(
          (account, observer) -> {
            List<SampleFrames.Delivered> got = observer.client().got;
            if (sees(account, told.account(), hasOperators)) {
              assertThat(got).as("%s hears %s", account, told).hasSize(1);
              assertThat(got.get(0).topic()).isEqualTo(EVENTS);
              assertThat(got.get(0).events().get(0).payload()).contains(told.type());
            } else {
              assertThat(got).as("%s does not hear %s", account, told).isEmpty();
            }
            got.clear();
          });
    }

    void run(List<Step> steps, boolean hasOperators) {
      InternalClient client =
          new InternalClient(loops.executor(0), router, () -> ++producers, CLOCK, dropped, 1 << 20);
      Consumer<Advisory> events =
          SysTopics.events(
              "bus-1", new Observers(index.accounts(), hasOperators ? "ops" : null), client, CLOCK);
      for (Step step : steps) {
        if (step instanceof Toggle toggle) {
          toggle(toggle.account());
        } else if (step instanceof Tell tell) {
          events.accept(tell.advisory());
          loops.runAll();
          check(tell.advisory(), hasOperators);
        }
      }
      assertThat(((AccountEvents<?>) events).size()).isLessThanOrEqualTo(ACCOUNTS.size());
      assertThat(dropped.sum()).isZero();
      router.close();
    }
  }
}
