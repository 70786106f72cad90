package io.eventbus.client.internal.base;

import io.eventbus.protocol.CallFrames;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Event;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Limits;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Register;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.specific.SpecificRecord;
import org.jspecify.annotations.Nullable;

/**
 * Bus without a network: a transport whose other end a test holds. Answers as a bus does unless the
 * test says otherwise, and records its input.
 */
public final class FakeBus implements Transport {
  private static final FrameLimits LIMITS = FrameLimits.DEFAULT;

  /** Frame that arrived, with its place in the messages. */
  public record Arrival(int connection, int message, TypeCode type, Object content) {}

  /** A Publish that arrived. */
  public record Batch(
      String topic, long sequence, long schema, boolean confirm, List<String> payloads) {}

  /** A Request that arrived. */
  public record Asked(
      long call,
      String service,
      String method,
      int timeoutMillis,
      boolean idempotent,
      int attempt,
      long member,
      String payload) {}

  /** A Reply that arrived. */
  public record Answered(long call, int handledMicros, String payload) {}

  public final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();

  /** Credits, which are not among the arrivals: they come whenever something is handled. */
  public final BlockingQueue<Arrival> credits = new LinkedBlockingQueue<>();

  public final List<URI> attempts = new ArrayList<>();
  public final List<Hello> hellos = new ArrayList<>();
  public volatile boolean confirms = true;
  public volatile boolean answersBarriers = true;
  public volatile boolean confirmsSubscriptions = true;
  public volatile boolean answersUnsubscribe = true;
  public volatile boolean holdsSends;
  public volatile boolean silent;
  public volatile boolean answersPings = true;
  public volatile boolean knowsCredit = true;
  public volatile boolean knowsServices = true;
  public volatile boolean confirmsServices = true;
  public volatile boolean durable = true;
  public volatile boolean confirmsConsumers = true;

  /** Creation that the answer to a Consume tells; 0 for none. */
  public volatile long creation;

  /** The fields expect, delayMillis and ttlMillis of each Publish that has one of them. */
  public final BlockingQueue<List<Long>> wishes = new LinkedBlockingQueue<>();

  /** The fields producerName and number of each Publish that has them, with a space between. */
  public final BlockingQueue<String> names = new LinkedBlockingQueue<>();

  public final AtomicInteger cancelled = new AtomicInteger();
  public final AtomicInteger pings = new AtomicInteger();
  private final Semaphore newPings = new Semaphore(0);
  public volatile long producer = 77;
  public volatile long expiresAt;
  public volatile int messageBytes = 4 * 1024 * 1024;
  public volatile @Nullable Exception connectFailure;
  public volatile boolean closed;
  // A party for the test, and one for each message that the network has not reported as sent.
  private final Phaser underWay = new Phaser(1);
  private final AtomicInteger messages = new AtomicInteger();
  public final java.util.Set<String> unreachable =
      java.util.concurrent.ConcurrentHashMap.newKeySet();
  private volatile @Nullable Connection current;
  private final List<Connection> connections = new java.util.concurrent.CopyOnWriteArrayList<>();

  @Override
  public synchronized Attempt connect(URI url, Duration timeout, Listener listener) {
    attempts.add(url);
    Exception failure =
        unreachable.contains(url.toString())
            ? new IllegalStateException("unreachable")
            : connectFailure;
    if (failure != null) {
      listener.onFailed(failure);
      return () -> {};
    }
    Connection connection = new Connection(connections.size() + 1, listener);
    connections.add(connection);
    current = connection;
    if (!silent) {
      listener.onOpen(connection);
    }
    return cancelled::incrementAndGet;
  }

  /**
   * Waits until the client has been told that the arrivals were sent. Before that, a jump of the
   * clock would look like a network that accepts nothing.
   */
  public void awaitSent() throws Exception {
    underWay.awaitAdvanceInterruptibly(underWay.arrive(), 10, TimeUnit.SECONDS);
  }

  /** Returns the dependencies of a client that is connected to this bus. */
  public Outside outside(Scheduler scheduler, MicroClock clock) {
    RefCounted.Lease<SharedThreads> threads = SharedThreads.ALL.acquire();
    return new Outside(
        this,
        scheduler,
        threads.get().senders(),
        threads.get().handlers(),
        clock,
        () -> 0.0,
        threads::release);
  }

  @Override
  public void close() {
    closed = true;
  }

  public Connection connection() {
    Connection connection = current;
    if (connection == null) {
      throw new AssertionError("not connected");
    }
    return connection;
  }

  /** Returns the connection with this number, from 1. */
  public Connection connection(int number) {
    return connections.get(number - 1);
  }

  /** Returns the next frame of this type, skipping others; fails after ten seconds. */
  public Arrival next(TypeCode type) throws InterruptedException {
    while (true) {
      Arrival arrival = arrivals.poll(60, TimeUnit.SECONDS);
      if (arrival == null) {
        throw new AssertionError("no frame " + type + " within 60 s");
      }
      if (arrival.type == type) {
        return arrival;
      }
    }
  }

  public Asked nextRequest() throws InterruptedException {
    return (Asked) next(TypeCode.REQUEST).content;
  }

  public Answered nextReply() throws InterruptedException {
    return (Answered) next(TypeCode.REPLY).content;
  }

  public Failure nextFailure() throws InterruptedException {
    return (Failure) next(TypeCode.FAILURE).content;
  }

  public Batch nextPublish() throws InterruptedException {
    return (Batch) next(TypeCode.PUBLISH).content;
  }

  /** Waits for the next ping, of any connection. */
  public void awaitPing() throws InterruptedException {
    if (!newPings.tryAcquire(60, TimeUnit.SECONDS)) {
      throw new AssertionError("no ping within 60 s");
    }
  }

  /** Waits until an event with this payload has arrived. */
  public void awaitPayload(String payload) throws InterruptedException {
    while (!nextPublish().payloads().contains(payload)) {
      // Earlier events are of no interest.
    }
  }

  public static byte[] deliver(
      String topic, long producer, long sequence, long[] groups, String... payloads) {
    return deliver(topic, producer, sequence, groups, new String[payloads.length], payloads);
  }

  /** Encodes a Deliver with a key, or null, for each event. */
  public static byte[] deliver(
      String topic,
      long producer,
      long sequence,
      long[] groups,
      @Nullable String[] keys,
      String[] payloads) {
    ByteBuffer events = ByteBuffer.allocate(64 * 1024);
    for (int i = 0; i < payloads.length; i++) {
      String key = keys[i];
      Frames.writeEvent(
          events,
          5,
          key == null ? null : key.getBytes(StandardCharsets.UTF_8),
          io.eventbus.protocol.EncodedHeaders.NONE,
          payloads[i].getBytes(StandardCharsets.UTF_8));
    }
    events.flip();
    ByteBuffer publish = ByteBuffer.allocate(events.remaining() + 512);
    Frames.writePublish(
        publish,
        topic.getBytes(StandardCharsets.UTF_8),
        sequence,
        0,
        false,
        payloads.length,
        events);
    publish.flip();
    FrameCursor cursor = new FrameCursor().wrap(publish, 0, publish.limit());
    cursor.next();
    PublishView view = new PublishView();
    view.read(publish, cursor.bodyStart(), cursor.bodyEnd(), LIMITS);
    ByteBuffer out =
        ByteBuffer.allocate(Frames.deliverSize(view, producer, 9, -1, groups, groups.length));
    Frames.writeDeliver(out, publish, view, producer, 9, -1, groups, groups.length);
    return out.array();
  }

  private static ByteBuffer event(String payload) {
    ByteBuffer event = ByteBuffer.allocate(64 * 1024);
    Frames.writeEvent(
        event,
        5,
        null,
        io.eventbus.protocol.EncodedHeaders.NONE,
        payload.getBytes(StandardCharsets.UTF_8));
    return event.flip();
  }

  /** Encodes a Deliver of journal 3, with events that producer 5 has numbered alike. */
  public static byte[] stored(String topic, long position, long sequence, String... payloads) {
    return stored(topic, position, sequence, List.of(), payloads);
  }

  /** Encodes a Deliver of journal 3 for members of groups. */
  public static byte[] stored(
      String topic, long position, long sequence, List<Long> groups, String... payloads) {
    List<Event> events = new ArrayList<>();
    for (String payload : payloads) {
      byte[] bytes = payload.getBytes(StandardCharsets.UTF_8);
      events.add(new Event(5L, null, Map.of(), ByteBuffer.wrap(bytes)));
    }
    return ControlFrames.encode(
        TypeCode.DELIVER,
        new Deliver(topic, 3L, sequence, 0L, 9L, position, events, groups, 5L, sequence));
  }

  /** Encodes a Feed. */
  public static byte[] feed(long id, long from, long to, long head, byte[]... frames) {
    return feed(id, from, to, head, 0, frames);
  }

  /** Encodes a Feed of a shared durable subscription, or with the attempt 0 of another one. */
  public static byte[] feed(long id, long from, long to, long head, int attempt, byte[]... frames) {
    int size = 0;
    for (byte[] frame : frames) {
      size += frame.length;
    }
    ByteBuffer out = ByteBuffer.allocate(DurableFrames.feedSize(id, from, to, head, size, attempt));
    DurableFrames.writeFeedHead(out, id, from, to, head, size, attempt);
    for (byte[] frame : frames) {
      out.put(frame);
    }
    DurableFrames.writeAttempt(out, attempt);
    return out.array();
  }

  /** Encodes a Reply from member 9 that waited for 3 microseconds and took 4. */
  public static byte[] reply(long call, String payload) {
    return reply(call, 9, false, payload);
  }

  public static byte[] reply(long call, long member, boolean more, String payload) {
    ByteBuffer event = event(payload);
    int tail = CallFrames.replyTailSize(0, event.remaining()) + CallFrames.limitSize(0);
    ByteBuffer out = ByteBuffer.allocate(CallFrames.replySize(call, member, 3, 4, tail));
    CallFrames.writeReplyHead(out, call, member, 3, 4, tail);
    CallFrames.writeReplySchema(out, 0);
    out.put(event);
    CallFrames.writeReplyEnd(out, more, 0);
    return out.array();
  }

  public static byte[] failure(
      long call, FailureCode code, Execution executed, long retryAfterMillis) {
    return failure(call, 9, false, code, executed, retryAfterMillis);
  }

  public static byte[] failure(
      long call,
      long member,
      boolean more,
      FailureCode code,
      Execution executed,
      long retryAfterMillis) {
    return ControlFrames.encode(
        TypeCode.FAILURE,
        new Failure(
            call,
            code,
            "told by the bus",
            executed,
            retryAfterMillis,
            member,
            "",
            ByteBuffer.allocate(0),
            more));
  }

  /** Encodes an Invoke for the method {@code m} by caller 5. */
  public static byte[] invoke(
      long call, long service, int timeoutMillis, long request, int attempt, String payload) {
    ByteBuffer event = event(payload);
    byte[] identity = "alice".getBytes(StandardCharsets.UTF_8);
    int body =
        CallFrames.invokeBodySize(
            call,
            service,
            1,
            timeoutMillis,
            5,
            request,
            attempt,
            identity,
            7,
            0,
            event.remaining());
    ByteBuffer out = ByteBuffer.allocate(CallFrames.invokeSize(body));
    CallFrames.writeInvokeStart(out, body, call, service, 1);
    out.put((byte) 'm');
    CallFrames.writeInvokeRest(out, timeoutMillis, 5, request, attempt, identity, 7, 0);
    return out.put(event).array();
  }

  private static String payload(io.eventbus.protocol.EventCursor event) {
    return new String(event.payload(), StandardCharsets.UTF_8);
  }

  /** Connection of a client. */
  public final class Connection implements Channel {
    public final int number;
    private final Listener listener;
    private @Nullable SendCallback held;
    private boolean over;
    private boolean paused;
    public volatile int closedWith;
    public volatile int acceptedBytes;

    public Connection(int number, Listener listener) {
      this.number = number;
      this.listener = listener;
    }

    @Override
    public void send(ByteBuffer message, SendCallback callback) {
      ByteBuffer copy = ByteBuffer.allocate(message.remaining()).put(message).flip();
      boolean hold;
      synchronized (this) {
        if (over) {
          callback.onSent(new IllegalStateException("closed"));
          return;
        }
        hold = holdsSends && !isCredit(copy);
        if (hold) {
          held = callback;
        }
      }
      underWay.register();
      try {
        read(copy);
        if (!hold) {
          callback.onSent(null);
        }
      } finally {
        underWay.arriveAndDeregister();
      }
    }

    /** Asks the client to move; ten seconds are left for it. */
    public void askToMove(String token, String... urls) {
      frame(
          TypeCode.CHANGE_BUS,
          new ChangeBus(List.of(urls), ChangeReason.OVERLOAD, 10_000L, token, 3));
    }

    /** Completes the WebSocket handshake of a silent bus; Hello is read and not answered. */
    public void open() {
      listener.onOpen(this);
    }

    /** Lets the network accept the message that is under way. */
    public void releaseSend() {
      SendCallback callback;
      synchronized (this) {
        callback = held;
        held = null;
      }
      if (callback != null) {
        callback.onSent(null);
      }
    }

    private static boolean isCredit(ByteBuffer message) {
      FrameCursor cursor = new FrameCursor().wrap(message, 0, message.limit());
      return cursor.next() && cursor.typeCode() == TypeCode.CREDIT.code();
    }

    private void read(ByteBuffer message) {
      int number = isCredit(message) ? messages.get() : messages.incrementAndGet();
      FrameCursor cursor = new FrameCursor().wrap(message, 0, message.limit());
      while (cursor.next()) {
        TypeCode type = TypeCode.of(cursor.typeCode());
        int from = cursor.bodyStart();
        int to = cursor.bodyEnd();
        if (type == null) {
          throw new AssertionError("type code " + cursor.typeCode());
        }
        switch (type) {
          case HELLO -> hello(ControlFrames.hello(message, from, to));
          case PUBLISH -> publish(number, message, from, to);
          case SUBSCRIBE -> {
            Subscribe subscribe = ControlFrames.subscribe(message, from, to);
            arrivals.add(new Arrival(this.number, number, type, subscribe));
            if (confirmsSubscriptions) {
              frame(
                  TypeCode.CONFIRM,
                  new Confirm(
                      TypeCode.SUBSCRIBE.code(), subscribe.getId(), "", -1L, 0L, false, 0L));
            }
          }
          case UNSUBSCRIBE -> {
            long id = ControlFrames.unsubscribe(message, from, to).getId();
            arrivals.add(new Arrival(this.number, number, type, id));
            if (answersUnsubscribe) {
              frame(TypeCode.DRAINED, new Drained(id));
            }
          }
          case CONSUME -> {
            Consume consume = DurableFrames.consume(message, from, to);
            if (!durable) {
              frame(
                  TypeCode.PROBLEM,
                  new Problem(ErrorCode.UNKNOWN_TYPE, "no durable topics", false, 0L, 16, ""));
            } else if (confirmsConsumers) {
              frame(
                  TypeCode.CONFIRM,
                  new Confirm(
                      TypeCode.CONSUME.code(), consume.getId(), "shop", -1L, 0L, false, creation));
            }
            // After the answer, so that what a test feeds then comes behind it.
            arrivals.add(new Arrival(this.number, number, type, consume));
          }
          case SETTLE ->
              arrivals.add(
                  new Arrival(this.number, number, type, DurableFrames.settle(message, from, to)));
          case BARRIER -> {
            long id = ControlFrames.barrier(message, from, to).getId();
            arrivals.add(new Arrival(this.number, number, type, id));
            if (answersBarriers) {
              frame(TypeCode.BARRIER, new Barrier(id));
            }
          }
          case REGISTER -> {
            Register register = ServiceFrames.register(message, from, to);
            arrivals.add(new Arrival(this.number, number, type, register));
            if (!knowsServices) {
              frame(
                  TypeCode.PROBLEM,
                  new Problem(
                      ErrorCode.UNKNOWN_TYPE, "type code 20 is unknown", false, 0L, 20, ""));
            } else if (confirmsServices) {
              frame(
                  TypeCode.CONFIRM,
                  new Confirm(TypeCode.REGISTER.code(), register.getId(), "", -1L, 0L, false, 0L));
            }
          }
          case UNREGISTER -> {
            long id = ServiceFrames.unregister(message, from, to).getId();
            arrivals.add(new Arrival(this.number, number, type, id));
            if (answersUnsubscribe) {
              frame(TypeCode.DRAINED, new Drained(id));
            }
          }
          case REQUEST -> {
            RequestView view = new RequestView();
            view.read(message, from, to, LIMITS);
            arrivals.add(
                new Arrival(
                    this.number,
                    number,
                    type,
                    new Asked(
                        view.call(),
                        view.service(),
                        view.method(),
                        view.timeoutMillis(),
                        view.idempotent(),
                        view.attempt(),
                        view.member(),
                        payload(view.event()))));
          }
          case REPLY -> {
            ReplyView view = new ReplyView();
            view.read(message, from, to, LIMITS);
            arrivals.add(
                new Arrival(
                    this.number,
                    number,
                    type,
                    new Answered(view.call(), view.handledMicros(), payload(view.event()))));
          }
          case FAILURE ->
              arrivals.add(
                  new Arrival(this.number, number, type, ServiceFrames.failure(message, from, to)));
          case CANCEL ->
              arrivals.add(
                  new Arrival(this.number, number, type, ServiceFrames.cancel(message, from, to)));
          case CAPACITY ->
              arrivals.add(
                  new Arrival(
                      this.number, number, type, ServiceFrames.capacity(message, from, to)));
          case CREDIT -> credit(ControlFrames.credit(message, from, to));
          case CHANGE_BUS_FAILED ->
              arrivals.add(
                  new Arrival(
                      this.number, number, type, ControlFrames.changeBusFailed(message, from, to)));
          case AUTHENTICATE ->
              arrivals.add(
                  new Arrival(
                      this.number, number, type, ControlFrames.authenticate(message, from, to)));
          case ACK ->
              arrivals.add(
                  new Arrival(this.number, number, type, ControlFrames.ack(message, from, to)));
          default -> throw new AssertionError("a client must not send " + type);
        }
      }
    }

    private void credit(Credit credit) {
      credits.add(new Arrival(number, messages.get(), TypeCode.CREDIT, credit));
      if (!knowsCredit) {
        frame(
            TypeCode.PROBLEM,
            new Problem(
                ErrorCode.UNKNOWN_TYPE,
                "type code 28 is unknown",
                false,
                0L,
                TypeCode.CREDIT.code(),
                ""));
      }
    }

    private void hello(Hello hello) {
      hellos.add(hello);
      if (silent) {
        return;
      }
      Welcome welcome = new Welcome();
      welcome.setBus("bus");
      welcome.setSession("session-" + number);
      welcome.setProducer(producer);
      welcome.setResume("resume-" + producer);
      welcome.setLimits(new Limits(1024 * 1024, messageBytes, 64, 16 * 1024, 10_000, 8L << 20));
      welcome.setOthers(List.of());
      welcome.setExpiresAt(expiresAt);
      welcome.setCalls(knowsServices ? 4096 : 0);
      welcome.setServices(knowsServices ? 1000 : 0);
      welcome.setDurable(durable);
      frame(TypeCode.WELCOME, welcome);
    }

    private void publish(int messageNumber, ByteBuffer message, int from, int to) {
      PublishView view = new PublishView();
      view.read(message, from, to, LIMITS);
      io.eventbus.protocol.EventCursor events =
          new io.eventbus.protocol.EventCursor()
              .wrap(
                  message, view.eventsInPlace(), view.eventsInPlace() + view.eventsSize(), LIMITS);
      List<String> payloads = new ArrayList<>();
      while (events.next()) {
        payloads.add(new String(events.payload(), StandardCharsets.UTF_8));
      }
      if (view.needsDurable()) {
        wishes.add(List.of(view.expect(), view.delayMillis(), view.ttlMillis()));
      }
      if (view.hasProducerName()) {
        names.add(view.producerName() + " " + view.number());
      }
      // Before a test can see the arrival, and change its mind.
      boolean answer = view.confirm() && confirms;
      arrivals.add(
          new Arrival(
              number,
              messageNumber,
              TypeCode.PUBLISH,
              new Batch(view.topic(), view.sequence(), view.schema(), view.confirm(), payloads)));
      if (answer) {
        confirm(view.topic(), view.sequence() + view.eventCount() - 1);
      }
    }

    public void confirm(String topic, long lastSequence) {
      frame(
          TypeCode.CONFIRM,
          new Confirm(TypeCode.PUBLISH.code(), lastSequence, topic, -1L, 0L, false, 0L));
    }

    public void frame(TypeCode type, SpecificRecord record) {
      message(ControlFrames.encode(type, record));
    }

    /** Sends frames to the client, in the calling thread. */
    public void message(byte[]... frames) {
      int size = 0;
      for (byte[] frame : frames) {
        size += frame.length;
      }
      ByteBuffer message = ByteBuffer.allocate(size);
      for (byte[] frame : frames) {
        message.put(frame);
      }
      awaitReading();
      listener.onMessage(message.flip());
    }

    private synchronized void awaitReading() {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      try {
        while (paused && !over) {
          long left = deadline - System.nanoTime();
          if (left <= 0) {
            throw new AssertionError("the client does not read for 10 s");
          }
          TimeUnit.NANOSECONDS.timedWait(this, left);
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void acceptMessages(int maxBytes) {
      acceptedBytes = maxBytes;
    }

    @Override
    public synchronized void pauseReading() {
      paused = true;
    }

    @Override
    public synchronized void resumeReading() {
      paused = false;
      notifyAll();
    }

    public synchronized boolean isPaused() {
      return paused;
    }

    /** Ends the connection, as a break or a close by the bus does. */
    public void end(int code, String reason) {
      synchronized (this) {
        if (over) {
          return;
        }
        over = true;
        notifyAll();
      }
      listener.onClosed(code, reason);
    }

    @Override
    public void ping() {
      pings.incrementAndGet();
      newPings.release();
      if (answersPings && !isOver()) {
        listener.onPong();
      }
    }

    public void pong() {
      listener.onPong();
    }

    public boolean isOver() {
      synchronized (this) {
        return over;
      }
    }

    @Override
    public void close(int code, String reason) {
      closedWith = code;
      end(code, reason);
    }

    @Override
    public void abort() {
      end(1006, "aborted");
    }
  }
}
