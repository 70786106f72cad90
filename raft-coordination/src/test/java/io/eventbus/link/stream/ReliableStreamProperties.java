package io.eventbus.link.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkCodec;
import io.eventbus.link.LinkPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * Both ends of a stream over a network that is cut between any two bytes, compared with a list of
 * what was sent: each frame is taken once and in order, unless it expires or is given up; it is
 * kept until it is acknowledged, and acknowledged when it is settled and not held back.
 */
class ReliableStreamProperties {
  private static final int HELLO = 50;
  private static final int FRAME = 70;

  private enum Act {
    FORWARD,
    BACK,
    SETTLE,
    PASS,
    CONNECT,
    CUT,
    BLOCK,
    UNBLOCK,
    EXPIRE,
    REPEAT_ACK,
    DONE,
    GIVE_UP,
    REPLACE
  }

  sealed interface Step {}

  record Add(int bytes, boolean expires, boolean held) implements Step {}

  /**
   * Something that happens.
   *
   * @param count how often, or to which
   */
  record Do(Act act, int count) implements Step {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Boolean> rarely = Arbitraries.of(false, false, false, true);
    Arbitrary<Step> add =
        Combinators.combine(Arbitraries.of(0, 10, 10, 3_000, 9_000, 70_000), rarely, rarely)
            .as(Add::new);
    Arbitrary<Step> act =
        Combinators.combine(
                Arbitraries.frequency(
                    Tuple.of(6, Act.FORWARD),
                    Tuple.of(6, Act.BACK),
                    Tuple.of(4, Act.SETTLE),
                    Tuple.of(4, Act.PASS),
                    Tuple.of(6, Act.CONNECT),
                    Tuple.of(3, Act.CUT),
                    Tuple.of(1, Act.BLOCK),
                    Tuple.of(2, Act.UNBLOCK),
                    Tuple.of(1, Act.EXPIRE),
                    Tuple.of(2, Act.REPEAT_ACK),
                    Tuple.of(3, Act.DONE),
                    Tuple.of(2, Act.GIVE_UP),
                    Tuple.of(1, Act.REPLACE)),
                Arbitraries.integers().between(1, 9))
            .as(Do::new);
    return Arbitraries.oneOf(add, act).list().ofMaxSize(120);
  }

  @Property(tries = 400)
  void eachFrameIsTakenOnceAndInOrder(@ForAll("steps") List<Step> steps) {
    World world = new World();
    steps.forEach(world::run);
    world.finish();
  }

  private static final class World {
    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final StreamLoop loop;
    private final Sender sender;
    private final List<TestFrame> frames = new ArrayList<>();
    private final Deque<byte[]> forth = new ArrayDeque<>();
    private final Deque<byte[]> back = new ArrayDeque<>();
    private final List<byte[]> acks = new ArrayList<>();
    private @Nullable EmbeddedChannel here;
    private @Nullable EmbeddedChannel there;
    private @Nullable Function<LinkPeer, ChannelHandler> opening;
    private Receiver receiver;
    private long instance = 1;
    private long nanos;
    // Handlers must not throw: a connection that fails is opened again.
    private final List<String> failures = new ArrayList<>();

    World() {
      clock.freezeTime();
      loop = new Loop(clock.eventLoop());
      sender = new Sender(this);
      receiver = new Receiver(loop);
    }

    void run(Step step) {
      if (step instanceof Add add) {
        TestFrame frame = new TestFrame(frames.size(), add.bytes(), add.expires(), add.held());
        frames.add(frame);
        sender.stream.add(frame);
      } else if (step instanceof Do it) {
        act(it.act(), it.count());
      }
      settleDown();
      assertThat(failures).isEmpty();
      assertThat(sender.stream.bytes())
          .isEqualTo(
              frames.stream().filter(f -> !f.released).mapToLong(TestFrame::keptBytes).sum());
    }

    private void check(boolean holds, String what, TestFrame frame) {
      if (!holds) {
        failures.add("frame " + frame.id + " " + what);
      }
    }

    private void act(Act act, int count) {
      switch (act) {
        case FORWARD -> move(forth, there, count);
        case BACK -> move(back, here, count);
        case SETTLE -> receiver.settleAll();
        case PASS -> pass(Duration.ofMillis(10L * count));
        case CONNECT -> {
          connect();
          if (count > 3) {
            greet();
          }
        }
        case CUT -> cut(count % 2 == 0);
        case BLOCK -> writable(false);
        case UNBLOCK -> writable(true);
        case EXPIRE -> frames.forEach(frame -> frame.expired |= frame.expires);
        case REPEAT_ACK -> {
          if (!acks.isEmpty()) {
            back.add(acks.get(count % acks.size()));
          }
        }
        case DONE -> receiver.done(count);
        case GIVE_UP -> {
          if (count > 3) {
            cut(false);
          }
          sender.giveUp();
        }
        case REPLACE -> {
          cut(false);
          instance++;
          receiver = new Receiver(loop);
        }
      }
    }

    private void pass(Duration time) {
      nanos += time.toNanos();
      clock.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void connect() {
      if (here != null) {
        return;
      }
      pass(Duration.ofSeconds(3));
      sender.connect();
      Function<LinkPeer, ChannelHandler> handler = opening;
      if (handler != null) {
        opening = null;
        LinkPeer peer = new LinkPeer("", "", "b", instance, "test.0");
        there = new EmbeddedChannel(new StreamConnection(loop, peer, 1 << 20, receiver));
        here = new EmbeddedChannel(handler.apply(peer));
      }
    }

    /** Lets the first frames of a connection arrive, so that more steps see it in use. */
    private void greet() {
      settleDown();
      move(forth, there, 1);
      settleDown();
      move(back, here, 1);
      settleDown();
      move(forth, there, 3);
    }

    /** Loses what is on its way; of the next frame, the first half arrives before that. */
    private void cut(boolean half) {
      EmbeddedChannel at = there;
      byte[] next = forth.peek();
      if (half && next != null && at != null) {
        at.writeInbound(Unpooled.copiedBuffer(next, 0, next.length / 2));
      }
      for (EmbeddedChannel channel : new EmbeddedChannel[] {here, there}) {
        if (channel != null) {
          channel.finishAndReleaseAll();
        }
      }
      here = null;
      there = null;
      forth.clear();
      back.clear();
    }

    private void writable(boolean now) {
      EmbeddedChannel at = here;
      if (at != null && at.isOpen()) {
        at.unsafe().outboundBuffer().setUserDefinedWritability(1, now);
        at.runPendingTasks();
      }
    }

    private static void move(Deque<byte[]> frames, @Nullable EmbeddedChannel to, int count) {
      for (int i = 0; i < count && to != null && !frames.isEmpty(); i++) {
        to.writeInbound(Unpooled.wrappedBuffer(frames.remove()));
      }
    }

    private void settleDown() {
      clock.runPendingTasks();
      EmbeddedChannel at = here;
      if (at != null && !at.isOpen()) {
        cut(false);
      }
      collect(here, forth);
      List<byte[]> replies = new ArrayList<>();
      collect(there, replies);
      back.addAll(replies);
      // An old acknowledgement may come again on any later connection: behind a welcome.
      replies.stream().filter(frame -> frame[0] != 2 * StreamFrames.WELCOME).forEach(acks::add);
    }

    private static void collect(@Nullable EmbeddedChannel from, Collection<byte[]> frames) {
      if (from == null) {
        return;
      }
      from.flushOutbound();
      ByteBuf all = Unpooled.buffer();
      for (ByteBuf out = from.readOutbound(); out != null; out = from.readOutbound()) {
        all.writeBytes(out);
        out.release();
      }
      while (all.isReadable()) {
        int start = all.readerIndex();
        read(all);
        int length = (int) read(all);
        byte[] frame = new byte[all.readerIndex() - start + length];
        all.readerIndex(start).readBytes(frame);
        frames.add(frame);
      }
    }

    /** Lets everything arrive, and checks that nothing is missing. */
    void finish() {
      if (frames.size() % 2 == 1) {
        connect();
        greet();
        settleDown();
        move(forth, there, Integer.MAX_VALUE);
        acknowledgeAll();
        // The last acknowledgements are lost.
        cut(false);
      }
      for (int i = 0; i < 20; i++) {
        connect();
        settleDown();
        writable(true);
        settleDown();
        for (int j = 0; j < 4; j++) {
          move(forth, there, Integer.MAX_VALUE);
          acknowledgeAll();
          move(back, here, Integer.MAX_VALUE);
          settleDown();
        }
      }
      assertThat(failures).isEmpty();
      assertThat(sender.isUp()).isTrue();
      assertThat(sender.stream.isEmpty()).as("nothing is kept").isTrue();
      assertThat(sender.stream.bytes()).isZero();
      for (TestFrame frame : frames) {
        assertThat(frame.released).as("frame %s is released", frame.id).isTrue();
        assertThat(frame.taken || frame.lost || frame.dropped)
            .as("frame %s is taken, or was reported", frame.id)
            .isTrue();
      }
      cut(false);
      clock.finishAndReleaseAll();
    }

    private final class Loop extends StreamLoop {
      Loop(EventLoop eventLoop) {
        super(eventLoop, Duration.ofSeconds(1), Duration.ofSeconds(4));
      }

      @Override
      public long nanoTime() {
        return nanos;
      }

      @Override
      public RandomGenerator random() {
        return new Random(1);
      }

      @Override
      public void checkSoon() {}

      @Override
      protected boolean isMalformed(Throwable error) {
        return false;
      }

      @Override
      protected CompletableFuture<LinkPeer> open(
          InetSocketAddress address,
          String channel,
          EventLoop owner,
          Function<LinkPeer, ChannelHandler> handler) {
        opening = handler;
        return new CompletableFuture<>();
      }
    }

    private void acknowledgeAll() {
      receiver.doneAll();
      receiver.settleAll();
      pass(Duration.ofMillis(10));
      receiver.settleAll();
      settleDown();
    }

    /** Frame with a number of its own, which the model follows. */
    private final class TestFrame implements StreamFrame {
      final int id;
      final int size;
      final boolean expires;
      final boolean held;
      boolean expired;
      boolean dropped;
      boolean lost;
      boolean taken;
      boolean acknowledged;
      boolean released;
      boolean mayBeAcknowledged;

      TestFrame(int id, int size, boolean expires, boolean held) {
        this.id = id;
        this.size = size;
        this.expires = expires;
        this.held = held;
      }

      @Override
      public long keptBytes() {
        return 100L + size;
      }

      @Override
      public int headBytes() {
        return 20;
      }

      @Override
      public int bodyBytes() {
        return size;
      }

      @Override
      public void writeHead(ByteBuf out, long nowNanos) {
        check(!released, "is kept when it is written", this);
        check(!expired, "is written while somebody waits for it", this);
        LinkCodec.writeLong(out, FRAME);
        LinkCodec.writeLong(out, LinkCodec.sizeOf(id) + size);
        LinkCodec.writeLong(out, id);
      }

      @Override
      public void writeBody(ByteBuf out) {
        out.writeBytes(new byte[size]);
      }

      @Override
      public ByteBuf body() {
        return Unpooled.wrappedBuffer(new byte[size]);
      }

      @Override
      public boolean isExpired(long nowNanos) {
        return expired;
      }

      @Override
      public void onAcknowledged() {
        check(mayBeAcknowledged, "is settled and not held back", this);
        acknowledged = true;
      }

      @Override
      public void release() {
        check(!released, "is released once", this);
        check(acknowledged || lost || dropped, "is kept until then", this);
        released = true;
      }
    }

    /** End that opens the stream. */
    private static final class Sender extends OpenedStream
        implements ReliableStream.Owner<TestFrame> {
      final ReliableStream<TestFrame> stream;
      private long known = 1;

      Sender(World world) {
        super(world.loop, "b", "test.0", 1 << 20);
        this.stream = new ReliableStream<>(world.loop, this);
      }

      @Override
      protected InetSocketAddress address() {
        return InetSocketAddress.createUnresolved("b", 9);
      }

      @Override
      protected void greet(StreamConnection opened) {
        if (opened.linkPeer().instance() != known) {
          known = opened.linkPeer().instance();
          lose();
        }
        opened.write(StreamFrames.encode(HELLO, stream.first()));
        opened.flush();
      }

      @Override
      protected void onDown(boolean wasUp) {
        stream.down();
      }

      void giveUp() {
        if (!isUp()) {
          withdraw();
          lose();
        }
      }

      private void lose() {
        stream.dropAll(frame -> frame.lost = true);
      }

      @Override
      public boolean onFrame(
          StreamConnection from, int typeCode, ByteBuffer in, int begin, int end) {
        ByteBuf body = Unpooled.wrappedBuffer(in).slice(begin, end - begin);
        if (typeCode == StreamFrames.WELCOME) {
          stream.up(from, read(body));
          answered();
          welcomed();
        } else if (!isUp()) {
          // A repeated acknowledgement before the welcome: no bus sends that.
          return true;
        } else if (typeCode == StreamFrames.ACK) {
          stream.acknowledge(read(body));
        } else {
          stream.acknowledge(read(body), read(body));
        }
        return true;
      }

      @Override
      public void onWritable() {
        stream.drainSoon();
      }

      @Override
      public void onSent(TestFrame frame) {}

      @Override
      public void onExpired(TestFrame frame) {
        frame.dropped = true;
      }
    }

    /** Frame whose acknowledgement is held back. */
    private record Holding(TestFrame frame, long number, Set<TestFrame> done)
        implements ReceivedFrames.Held {
      @Override
      public boolean isDone() {
        return done.contains(frame);
      }
    }

    /** End that accepts the stream: one process. */
    private final class Receiver implements StreamConnection.End {
      private final ReceivedFrames received;
      private final Deque<Runnable> settling = new ArrayDeque<>();
      private final List<TestFrame> taken = new ArrayList<>();
      private final List<Holding> holding = new ArrayList<>();
      private final Set<TestFrame> done = new HashSet<>();
      private final Set<TestFrame> settled = new HashSet<>();
      private boolean greeted;

      Receiver(StreamLoop loop) {
        received =
            new ReceivedFrames(
                loop,
                8,
                task -> {
                  List<TestFrame> now = List.copyOf(taken);
                  settling.add(
                      () -> {
                        settled.addAll(now);
                        allow();
                        task.run();
                      });
                });
      }

      private void allow() {
        for (TestFrame frame : taken) {
          frame.mayBeAcknowledged |=
              settled.contains(frame) && (!frame.held || done.contains(frame));
        }
      }

      void settleAll() {
        while (!settling.isEmpty()) {
          settling.remove().run();
        }
      }

      void done(int which) {
        if (!holding.isEmpty()) {
          Holding held = holding.remove(which % holding.size());
          done.add(held.frame());
          allow();
          received.onDone(held);
        }
      }

      void doneAll() {
        while (!holding.isEmpty()) {
          done(0);
        }
      }

      @Override
      public boolean onFrame(
          StreamConnection from, int typeCode, ByteBuffer in, int begin, int end) {
        ByteBuf body = Unpooled.wrappedBuffer(in).slice(begin, end - begin);
        if (typeCode == HELLO) {
          long last = read(body) - 1;
          if (greeted) {
            received.skipTo(last);
          } else {
            received.restart(last);
          }
          greeted = true;
          from.write(StreamFrames.encode(StreamFrames.WELCOME, received.taken()));
          from.flush();
          received.up(from);
          received.repeat();
          return true;
        }
        TestFrame frame = frames.get((int) read(body));
        check(body.readableBytes() == frame.size, "is whole", frame);
        check(!frame.taken, "is taken once", frame);
        check(taken.isEmpty() || frame.id > taken.get(taken.size() - 1).id, "is in order", frame);
        frame.taken = true;
        taken.add(frame);
        received.take();
        if (frame.held) {
          Holding held = new Holding(frame, received.taken(), done);
          holding.add(held);
          received.hold(held);
        }
        return true;
      }

      @Override
      public void onReadEnd(StreamConnection from) {
        received.onReadEnd();
      }

      @Override
      public void onClosed(StreamConnection closed) {
        if (received.isBy(closed)) {
          received.down();
        }
      }
    }

    private static long read(ByteBuf in) {
      long zigzag = 0;
      for (int shift = 0; ; shift += 7) {
        byte b = in.readByte();
        zigzag |= (b & 0x7FL) << shift;
        if (b >= 0) {
          return (zigzag >>> 1) ^ -(zigzag & 1);
        }
      }
    }
  }
}
