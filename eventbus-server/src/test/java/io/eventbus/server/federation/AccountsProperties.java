package io.eventbus.server.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/**
 * Clients of several accounts on two buses, with the same topics, filters and groups, compared with
 * a plain list: every client gets the events of its own account, and nothing else.
 */
class AccountsProperties {
  private static final int MAX = 10;

  sealed interface Step {}

  record Subscribe(int bus, String account, String filter, @Nullable String group)
      implements Step {}

  record Unsubscribe(int which) implements Step {}

  record Publish(int bus, String account, String topic) implements Step {}

  /** Subscriber with its expected and its received events. */
  private record Client(
      int bus,
      SubscriptionIndex index,
      RoutedSubscription subscription,
      FakeSubscriber subscriber) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> bus = Arbitraries.of(0, 1);
    Arbitrary<String> account = Arbitraries.of("", "a", "b");
    Arbitrary<Step> subscribe =
        Combinators.combine(
                bus,
                account,
                Arbitraries.of("t", "t.u", "t.*", "*.u", ">", "t.>", "$SYS.>", "$SYS.x"),
                Arbitraries.of("g", "h").injectNull(0.6))
            .as(Subscribe::new);
    Arbitrary<Step> unsubscribe = Arbitraries.integers().between(0, 50).map(Unsubscribe::new);
    Arbitrary<Step> publish =
        Combinators.combine(bus, account, Arbitraries.of("t", "t.u", "v", "$SYS.x"))
            .as(Publish::new);
    return Arbitraries.oneOf(subscribe, subscribe, unsubscribe, publish, publish)
        .list()
        .ofMaxSize(40);
  }

  @Property(tries = 100)
  void nothingCrossesFromOneAccountToAnother(@ForAll("steps") List<Step> steps) {
    new TwoBuses().run(steps);
  }

  /** State of one try. */
  private static final class TwoBuses {
    private final LinkedBuses linked = new LinkedBuses();
    private final List<TestBus> buses = linked.buses;
    private final List<Client> clients = new ArrayList<>();
    private long sequence;

    private SubscriptionIndex enter(int bus, String account) {
      return Objects.requireNonNull(buses.get(bus).index.accounts().enter(account, MAX));
    }

    private void subscribe(Subscribe step) {
      SubscriptionIndex index = enter(step.bus(), step.account());
      FakeSubscriber subscriber = new FakeSubscriber(0);
      RoutedSubscription subscription =
          new RoutedSubscription(
              subscriber,
              clients.size(),
              TopicFilter.parse(step.filter()),
              step.group(),
              Overflow.BLOCK);
      index.add(subscription);
      clients.add(new Client(step.bus(), index, subscription, subscriber));
    }

    private void end(Client client) {
      client.index().remove(client.subscription());
      client.index().accounts().leave(client.index());
    }

    private void publish(Publish step) {
      TestBus bus = buses.get(step.bus());
      SubscriptionIndex index = enter(step.bus(), step.account());
      ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(step.topic(), ++sequence, false, "x"));
      PublishView view = SampleFrames.view(in);
      Router router = bus.routers.get(0);
      String problem =
          step.topic().charAt(0) == Topic.SYSTEM
              ? router.selectAny(index, in, view)
              : router.select(index, in, view);
      assertThat(problem).isNull();
      long producer = 100L + 10L * step.bus() + step.account().length();
      assertThat(router.mustWait(producer, () -> {})).isFalse();
      router.deliver(in, view, producer, 5, 6);
      index.accounts().leave(index);
    }

    /**
     * Checks that subscribers without a group get the event once, and each group in the cluster
     * once.
     */
    private void check(Publish step) {
      Map<String, Integer> groups = new LinkedHashMap<>();
      for (Client client : clients) {
        int got = client.subscriber().got.size();
        client.subscriber().got.clear();
        boolean meant =
            client.index().account().equals(step.account())
                && client.subscription().filter().matches(step.topic());
        String group = client.subscription().group();
        if (!meant) {
          assertThat(got).as("%s at %s", step, client.subscription().filter()).isZero();
        } else if (group == null) {
          assertThat(got).as("%s at %s", step, client.subscription().filter()).isEqualTo(1);
        } else {
          groups.merge(group, got, Integer::sum);
        }
      }
      assertThat(groups.values()).as("%s in groups", step).allMatch(n -> n == 1);
    }

    void run(List<Step> steps) {
      linked.connect();
      for (Step step : steps) {
        if (step instanceof Subscribe subscribe) {
          subscribe(subscribe);
        } else if (step instanceof Unsubscribe gone && !clients.isEmpty()) {
          end(clients.remove(gone.which() % clients.size()));
        } else if (step instanceof Publish publish) {
          linked.pump();
          publish(publish);
          linked.pump();
          check(publish);
        }
      }
      linked.pump();
      for (TestBus bus : buses) {
        assertThat(bus.federation.figures().mismatches()).isZero();
        assertThat(bus.federation.figures().lostByReason().get("no_member")).isZero();
      }
      clients.forEach(this::end);
      linked.pump();
      for (TestBus bus : buses) {
        assertThat(bus.index.accounts().find("a")).as("an account that nobody uses").isNull();
        assertThat(bus.index.accounts().find("b")).isNull();
        assertThat(bus.index.accounts().served()).isZero();
        assertThat(bus.federation.figures().filters()).isZero();
        bus.close();
      }
    }
  }
}
