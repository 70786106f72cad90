package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.Delivery;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** The ring against a list. */
class DeliveryRingProperties {
  private enum Kind {
    ADD,
    ADD_FIRST,
    POLL,
    DROP_OLDEST,
    TRIM,
    CLEAR
  }

  private record Step(Kind kind, @Nullable Overflow overflow, int bytes) {}

  private record Model(Delivery delivery, @Nullable Overflow overflow) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kind =
        Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(10, Arbitraries.of(Kind.ADD)),
            net.jqwik.api.Tuple.of(2, Arbitraries.of(Kind.ADD_FIRST)),
            net.jqwik.api.Tuple.of(4, Arbitraries.of(Kind.POLL)),
            net.jqwik.api.Tuple.of(3, Arbitraries.of(Kind.DROP_OLDEST)),
            net.jqwik.api.Tuple.of(1, Arbitraries.of(Kind.TRIM, Kind.CLEAR)));
    return Combinators.combine(
            kind,
            Arbitraries.of(Overflow.values()).injectNull(0.2),
            Arbitraries.integers().between(0, 300))
        .as(Step::new)
        .list()
        .ofMaxSize(150);
  }

  @Property
  void agreesWithAList(@ForAll("steps") List<Step> steps) {
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    BusMemory memory = new BusMemory(1 << 30);
    DeliveryRing ring = new DeliveryRing();
    List<Model> model = new ArrayList<>();
    for (Step step : steps) {
      switch (step.kind()) {
        case ADD -> {
          Delivery d = Delivery.of(allocator, memory, new byte[step.bytes()], 0);
          ring.add(d, step.overflow());
          model.add(new Model(d, step.overflow()));
        }
        case ADD_FIRST -> {
          Delivery d = Delivery.of(allocator, memory, new byte[step.bytes()], 0);
          ring.addFirst(d);
          model.add(0, new Model(d, Overflow.BLOCK));
        }
        case POLL -> {
          if (!model.isEmpty()) {
            Delivery first = ring.poll();
            assertThat(first).isSameAs(model.remove(0).delivery());
            first.release();
          }
        }
        case DROP_OLDEST -> {
          List<Delivery> victims = new ArrayList<>();
          ring.dropOldest(step.bytes() * 4L, victims::add);
          assertThat(victims).isEqualTo(dropOldest(model, step.bytes() * 4L));
          victims.forEach(Delivery::release);
        }
        case TRIM -> ring.trim();
        case CLEAR -> {
          List<Delivery> all = new ArrayList<>();
          ring.clear(all::add);
          assertThat(all).isEqualTo(model.stream().map(Model::delivery).toList());
          model.clear();
          all.forEach(Delivery::release);
        }
      }
      compare(ring, model);
    }
    ring.clear(Delivery::release);
    assertThat(memory.used()).isZero();
  }

  private static List<Delivery> dropOldest(List<Model> model, long toFree) {
    List<Delivery> victims = new ArrayList<>();
    long freed = 0;
    for (Iterator<Model> i = model.iterator(); i.hasNext() && freed < toFree; ) {
      Model m = i.next();
      if (m.overflow() == Overflow.DROP_OLDEST) {
        i.remove();
        freed += m.delivery().size();
        victims.add(m.delivery());
      }
    }
    return victims;
  }

  private static void compare(DeliveryRing ring, List<Model> model) {
    assertThat(ring.size()).isEqualTo(model.size());
    assertThat(ring.isEmpty()).isEqualTo(model.isEmpty());
    long bytes = 0;
    long control = 0;
    int i = 0;
    for (Model m : model) {
      assertThat(ring.get(i++)).isSameAs(m.delivery());
      bytes += m.delivery().size();
      control += m.overflow() == null ? m.delivery().size() : 0;
    }
    assertThat(ring.bytes()).isEqualTo(bytes);
    assertThat(ring.controlBytes()).isEqualTo(control);
  }
}
