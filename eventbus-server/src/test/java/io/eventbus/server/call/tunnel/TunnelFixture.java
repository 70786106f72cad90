package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.ServiceMemory;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.stats.CallStats;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Connections of a bus without sessions and sockets: frames wait until the test removes them. */
final class TunnelFixture {
  final BusMemory memory = new BusMemory(1L << 30);
  final CallStats stats = new CallStats();
  private final ServiceMemory.OfLoop heldByAll = memory.services().ofLoop();
  final DeliveryAllocator deliveries =
      new DeliveryAllocator(PooledByteBufAllocator.DEFAULT, memory);
  final TunnelSettings settings;
  boolean shortOfMemory;

  TunnelFixture(TunnelSettings settings) {
    this.settings = settings;
  }

  /** Loop of all connections. */
  private static final TunnelLoop ONE =
      new TunnelLoop() {
        @Override
        public int number() {
          return 0;
        }

        @Override
        public boolean isCurrent() {
          return true;
        }

        @Override
        public void inSlices(BooleanSupplier step) {
          boolean more = true;
          while (more) {
            more = step.getAsBoolean();
          }
        }

        @Override
        public void data(TunnelHalf to, long offset, boolean last, Delivery frame) {
          throw new AssertionError("one loop");
        }

        @Override
        public void credit(TunnelHalf to, long limit, long received) {
          throw new AssertionError("one loop");
        }

        @Override
        public void end(TunnelHalf to, TunnelEnding end) {
          throw new AssertionError("one loop");
        }
      };

  /** Single connection. */
  final class Connection implements TunnelEnds {
    final ServiceShare held = new ServiceShare(heldByAll, ServiceShare.Address.UNBOUNDED);
    final TunnelClient tunnels =
        new TunnelClient(ONE, this, held, settings, stats, () -> shortOfMemory);
    final Map<Long, Long> limits = new HashMap<>();
    final Map<Long, TunnelEnding> endings = new HashMap<>();
    private final Deque<Delivery> waiting = new ArrayDeque<>();
    private final ByteBuffer head = ByteBuffer.allocate(TunnelFrames.MAX_HEAD);
    private ByteBuffer payload = ByteBuffer.allocate(0);
    private boolean keepsLimits = true;
    long lastLimit;
    private long taken;
    long bytes;

    void withoutMaps() {
      keepsLimits = false;
    }

    TunnelClient.Outcome data(
        long call, long offset, boolean more, boolean last, ByteBuffer content) {
      payload = content;
      return tunnels.data(call, offset, more, last, content.remaining());
    }

    /** Writes the next frame to the socket. */
    boolean take(@Nullable Consumer<ByteBuffer> reader) {
      Delivery frame = waiting.pollFirst();
      if (frame == null) {
        return false;
      }
      taken++;
      bytes -= frame.frameBytes();
      if (reader != null) {
        reader.accept(frame.frame());
      }
      frame.release();
      tunnels.written(taken);
      return true;
    }

    @Override
    public Delivery data(long to, long offset, boolean more, boolean last, int length) {
      Delivery frame =
          deliveries.allocate(DeliveryKind.BULK, TunnelFrames.dataSize(to, offset, length), 0, 0);
      TunnelFrames.writeDataHead(head.clear(), to, offset, more, last, length);
      frame.append(head.flip());
      frame.append(payload, payload.position(), length);
      frame.finish();
      return frame;
    }

    @Override
    public void send(Delivery frame) {
      bytes += frame.frameBytes();
      waiting.addLast(frame);
    }

    @Override
    public void credit(long call, long limit, long received) {
      lastLimit = limit;
      if (keepsLimits) {
        limits.put(call, limit);
      }
    }

    @Override
    public void ended(long call, TunnelEnding end) {
      endings.put(call, end);
    }

    void clear() {
      waiting.forEach(Delivery::release);
      waiting.clear();
    }
  }

  Connection connection() {
    return new Connection();
  }

  /** Opens a tunnel; the member's number is that of the caller, negated. */
  void open(Connection caller, Connection member, long call, long takes, long memberTakes) {
    TunnelHalf half = caller.tunnels.request(call, false, takes);
    if (half == null) {
      throw new AssertionError("not begun");
    }
    member.limits.put(-call, half.initialLimit());
    TunnelHalf accepted = member.tunnels.accept(-call, memberTakes, half);
    caller.limits.put(call, half.accepted(accepted));
    accepted.endIfTooMany();
  }
}
