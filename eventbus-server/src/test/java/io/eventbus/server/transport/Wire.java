package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.queue.BlockBudgets;
import io.eventbus.server.queue.QueueContext;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.session.Sessions;
import io.eventbus.server.session.WorkBudget;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.eventbus.server.transport.websocket.Opcode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Loop with one connection, without a socket: output can be held back and read. */
public final class Wire {
  /** Close frame as the client sees it. */
  public record Close(int code, String reason) {}

  /** WebSocket message or control frame, except Close. */
  public record Message(int opcode, boolean compressed, ByteBuffer payload) {}

  private static final class Socket extends EmbeddedChannel {
    /** Number of buffers that are still accepted. */
    int room = Integer.MAX_VALUE;

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
      while (room > 0 && in.current() instanceof ByteBuf bytes) {
        room--;
        handleOutboundMessage(bytes.retain());
        in.remove();
      }
    }
  }

  private final Socket channel = new Socket();
  public final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  public final BusMemory memory = new BusMemory(1L << 40);
  final BusCounters counters = new BusCounters(1);
  public final LoopStats stats = counters.loops().get(0);
  public final ServerConfig config;
  final ConnectionLoop loop;
  final SubscriptionIndex index = new SubscriptionIndex(1);

  /** Time of the loop's work, by the clock that charges it. */
  long workNanos;

  private @Nullable WebSocketConnection connection;
  private final ByteBuf pending = Unpooled.buffer();

  public Wire(String... settings) {
    this(TestAccess.open(), settings);
  }

  /** Creates a wire with an authentication. */
  public Wire(Authentications authentications, String... settings) {
    this(config(settings), authentications, null);
  }

  /** Creates a wire with the budgets of another one, as for another loop of a bus. */
  public Wire(BlockBudgets budgets, String... settings) {
    this(config(settings), TestAccess.open(), budgets);
  }

  private Wire(
      ServerConfig config, Authentications authentications, @Nullable BlockBudgets shared) {
    this.config = config;
    BlockBudgets budgets =
        shared == null ? new BlockBudgets(config.timeouts().blockStallTime()) : shared;
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(32 * 1024, 128 * 1024));
    channel.config().setAllocator(allocator);
    FakeLoops loops = new FakeLoops(1);
    Clock clock = Clock.systemUTC();
    BusContext bus =
        new BusContext(
            "bus",
            config.limits(),
            index,
            memory,
            new Sessions("bus", clock),
            authentications,
            new LoopBarrier(loops),
            counters,
            clock);
    loop = new ConnectionLoop(0, channel.eventLoop(), config);
    Router router =
        new Router(
            0, loops, index, allocator, memory, stats, RemoteForwarder.NONE, loop::flushSoon);
    loop.start(
        new LoopContext(
            bus,
            router,
            stats,
            allocator,
            SampleCalls.calls(loops, memory, stats.calls),
            new WorkBudget(() -> workNanos)),
        budgets);
  }

  private static ServerConfig config(String... settings) {
    Map<String, String> values = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values);
  }

  /** Returns settings under which 40 KiB wait at most. */
  public static String[] smallQueue() {
    return queue("40KiB");
  }

  /** Returns settings under which so much waits at most. */
  public static String[] queue(String size) {
    return new String[] {
      "limits.payload-bytes", "2KiB",
      "limits.header-bytes", "1KiB",
      "limits.message-bytes", "20KiB",
      "limits.hello-bytes", "1KiB",
      "limits.queue-bytes", size
    };
  }

  WebSocketConnection connect(
      boolean deflate, Function<WebSocketConnection, MessageHandler> handler) {
    WebSocketConnection made = new WebSocketConnection(loop, channel, deflate, handler);
    channel.pipeline().addLast(made);
    connection = made;
    return made;
  }

  /** Connects a client that has a queue and no session. */
  public QueueHandler connectQueue() {
    List<QueueHandler> made = new ArrayList<>();
    connect(
        false,
        to -> {
          made.add(new QueueHandler(this, to));
          return made.get(0);
        });
    return made.get(0);
  }

  /** Returns what the queues of the loop share. */
  public QueueContext queues() {
    return loop.queues();
  }

  /** Checks the deadlines of the connection. */
  public void tick(long nowNanos) {
    connection().onTick(nowNanos);
  }

  /** Puts a handler in front of the connection. */
  void insert(ChannelHandler handler) {
    channel.pipeline().addFirst(handler);
  }

  /** Fires an event between handlers. */
  void event(Object event) {
    channel.pipeline().fireUserEventTriggered(event);
  }

  /** Requests one read from the socket, whether it is read by itself or not. */
  void askForRead() {
    channel.read();
  }

  WebSocketConnection connection() {
    WebSocketConnection made = connection;
    if (made == null) {
      throw new AssertionError("not connected");
    }
    return made;
  }

  /** Freezes the time: from now on it passes only by {@link #pass}. */
  void freezeTime() {
    channel.freezeTime();
  }

  /** Passes time; returns how often the loop had a task due at a time. */
  int pass(Duration time) {
    int wakes = 0;
    long left = time.toNanos();
    channel.runPendingTasks();
    while (true) {
      long next = channel.runScheduledPendingTasks();
      boolean due = next >= 0 && next <= left;
      long step = due ? next : left;
      channel.advanceTimeBy(step, TimeUnit.NANOSECONDS);
      channel.runPendingTasks();
      if (!due) {
        return wakes;
      }
      left -= step;
      wakes++;
    }
  }

  boolean isReading() {
    return channel.config().isAutoRead();
  }

  public boolean isOpen() {
    return channel.isOpen();
  }

  /** Stops reading at the client. */
  public void stick() {
    channel.room = 0;
  }

  /** Reads a little at the client and stops again. */
  public void take(int buffers) {
    channel.room = buffers;
    channel.flush();
    run();
    channel.room = 0;
  }

  /** Resumes reading at the client. */
  public void unstick() {
    channel.room = Integer.MAX_VALUE;
    channel.flush();
    run();
  }

  /** Feeds bytes to the connection as one read, if it is still open. */
  void read(ByteBuf bytes) {
    if (!channel.isOpen()) {
      bytes.release();
      return;
    }
    channel.writeInbound(bytes);
    run();
  }

  void read(byte[] bytes) {
    read(allocator.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes));
  }

  /** Ends the stream. */
  void hangUp() {
    channel.close().syncUninterruptibly();
    run();
  }

  /** Runs what the loop has to do. */
  public void run() {
    channel.runPendingTasks();
  }

  /** Returns the output since the last call, before there is a WebSocket. */
  String rawText() {
    run();
    StringBuilder text = new StringBuilder();
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      text.append(out.toString(StandardCharsets.US_ASCII));
      out.release();
    }
    return text.toString();
  }

  /** Returns the output since the last call: messages, control frames and at last a Close. */
  public List<Object> written() {
    run();
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      pending.writeBytes(out);
      out.release();
    }
    List<Object> found = new ArrayList<>();
    while (pending.isReadable()) {
      found.add(frame());
    }
    pending.clear();
    return found;
  }

  private Object frame() {
    int first = pending.readUnsignedByte();
    int second = pending.readUnsignedByte();
    assertThat(first & 0x80).as("a bus does not fragment").isNotZero();
    assertThat(second & 0x80).as("a bus does not mask").isZero();
    long length = second;
    if (second == 126) {
      length = pending.readUnsignedShort();
      assertThat(length).isGreaterThan(125);
    } else if (second == 127) {
      length = pending.readLong();
      assertThat(length).isGreaterThan(65_535);
    }
    byte[] payload = new byte[(int) length];
    pending.readBytes(payload);
    int opcode = first & 0x0F;
    if (opcode == Opcode.CLOSE) {
      if (length == 0) {
        return new Close(1005, "");
      }
      int code = ByteBuffer.wrap(payload).getShort() & 0xFFFF;
      return new Close(code, new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8));
    }
    return new Message(opcode, (first & 0x40) != 0, ByteBuffer.wrap(payload));
  }

  /** Returns the output with the frames of the protocol extracted from their messages. */
  public List<Object> frames() {
    List<Object> frames = new ArrayList<>();
    for (Object o : written()) {
      if (o instanceof Message m && m.opcode() == Opcode.BINARY && !m.compressed()) {
        frames.addAll(SampleFrames.read(m.payload()));
      } else {
        frames.add(o);
      }
    }
    return frames;
  }

  /** Ends everything and checks that nothing is held any more. */
  public void assertNothingHeld() {
    unstick();
    hangUp();
    channel.releaseOutbound();
    channel.checkException();
    assertThat(memory.used()).as("bytes in the bus's account").isZero();
    assertThat(allocator.metric().usedDirectMemory()).as("bytes of buffers").isZero();
    assertThat(loop.connectionCount()).isZero();
  }
}
