package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
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

/** Ring against a list. */
class DeliveryRingProperties {
  private enum Kind {
    ADD,
    ADD_FIRST,
    POLL,
    DROP_OLDEST,
    MOVE_OVERTAKING,
    TRIM,
    CLEAR
  }

  private record Step(Kind kind, DeliveryKind what, Overflow overflow, int bytes) {
    Delivery delivery(UnpooledByteBufAllocator allocator, BusMemory memory) {
      if (what != DeliveryKind.EVENTS) {
        return Delivery.of(allocator, memory, what, new byte[bytes], 0);
      }
      Delivery d = Delivery.allocate(allocator, memory, what, bytes, 1, 0);
      d.append(ByteBuffer.allocate(bytes));
      d.finish();
      return d;
    }
  }

  private record Model(Delivery delivery, @Nullable Overflow overflow) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kind =
        Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(10, Arbitraries.of(Kind.ADD)),
            net.jqwik.api.Tuple.of(2, Arbitraries.of(Kind.ADD_FIRST)),
            net.jqwik.api.Tuple.of(4, Arbitraries.of(Kind.POLL)),
            net.jqwik.api.Tuple.of(3, Arbitraries.of(Kind.DROP_OLDEST)),
            net.jqwik.api.Tuple.of(1, Arbitraries.of(Kind.MOVE_OVERTAKING)),
            net.jqwik.api.Tuple.of(1, Arbitraries.of(Kind.TRIM, Kind.CLEAR)));
    return Combinators.combine(
            kind,
            Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(4, Arbitraries.of(DeliveryKind.EVENTS)),
                net.jqwik.api.Tuple.of(1, Arbitraries.of(DeliveryKind.values()))),
            Arbitraries.of(Overflow.values()),
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
          Delivery d = step.delivery(allocator, memory);
          if (step.what() == DeliveryKind.EVENTS) {
            ring.add(d, step.overflow());
            model.add(new Model(d, step.overflow()));
          } else {
            ring.add(d);
            model.add(new Model(d, null));
          }
        }
        case ADD_FIRST -> {
          Delivery d =
              Delivery.of(allocator, memory, DeliveryKind.DIRECT, new byte[step.bytes()], 0);
          ring.addFirst(d);
          model.add(0, new Model(d, null));
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
        case MOVE_OVERTAKING -> {
          DeliveryRing to = new DeliveryRing();
          ring.moveOvertaking(to);
          List<Delivery> moved = new ArrayList<>();
          to.clear(moved::add);
          assertThat(moved).isEqualTo(overtaking(model));
          moved.forEach(Delivery::release);
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

  private static List<Delivery> overtaking(List<Model> model) {
    List<Delivery> moved = new ArrayList<>();
    for (Iterator<Model> i = model.iterator(); i.hasNext(); ) {
      Delivery d = i.next().delivery();
      if (d.kind() == DeliveryKind.CONTROL
          || d.kind() == DeliveryKind.CALL
          || d.kind() == DeliveryKind.INVOKE
          || d.kind() == DeliveryKind.CALL_ANSWER) {
        i.remove();
        moved.add(d);
      }
    }
    return moved;
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
      DeliveryKind kind = m.delivery().kind();
      boolean answer =
          kind == DeliveryKind.CONTROL
              || kind == DeliveryKind.MARKER
              || kind == DeliveryKind.CALL_ANSWER;
      control += answer ? m.delivery().size() : 0;
    }
    assertThat(ring.bytes()).isEqualTo(bytes);
    assertThat(ring.controlBytes()).isEqualTo(control);
  }
}
