package io.eventbus.server.session;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.durable.PublishRoom;
import io.eventbus.server.durable.StoredDelivery;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.Router;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Events of one client on their way into journals. Confirmed, or refused, when the journal has
 * answered. Confined to the session's loop.
 */
final class DurablePublishing {
  /** Topics, and names in topics, whose last number is remembered. */
  static final int MAX_TOPICS = 256;

  /** Answers that are given at once, whatever others wait for. */
  static final int MAX_AT_ONCE = 16;

  private static final long ANSWER_NANOS = 2_000;

  /** Heap of a remembered number. */
  static final int TOPIC_BYTES = 128;

  private final LoopContext loop;
  private final Journals journals;
  private final PublishRoom room;
  private final Object address;
  private final Session session;
  private final ConnectionControl connection;
  private final ProducerKeys keys;

  // The last number in each topic, of the session and of each name; the oldest first.
  private final Map<Numbered, Long> last = new LinkedHashMap<>(16, 0.75f, true);
  // Frames, and tasks that wait for those before them, in the order in which they came. A client
  // takes the answer to a frame for that to all before it, and journals answer in any order.
  private final ArrayDeque<Step> open = new ArrayDeque<>();

  // Whether the loop is asked to give answers, and whether it goes on with them in a later turn.
  private final AtomicBoolean answering = new AtomicBoolean();
  private boolean goesOn;

  /** Step that is done when all before it are. */
  private static class Step {
    // Null while the journal has not answered.
    volatile @Nullable Runnable task;
  }

  DurablePublishing(
      LoopContext loop,
      Journals journals,
      PublishRoom room,
      Session session,
      ConnectionControl connection) {
    this.loop = loop;
    this.journals = journals;
    this.room = room;
    this.address = session.addressShare();
    this.session = session;
    this.connection = connection;
    this.keys = new ProducerKeys(loop.bus.memory(), session.producer());
  }

  /**
   * Appends a frame for the selected topic to a journal. Returns false if it has to wait; then
   * nothing was done.
   *
   * @param bytes of the frame
   * @param retry called once, by any thread, if it has to wait
   */
  boolean publish(
      int journal, ByteBuffer in, PublishView publish, int bytes, long receivedAt, Runnable retry) {
    Router router = loop.router;
    if (publish.delayMillis() > PublishHead.MAX_MILLIS
        || publish.ttlMillis() > PublishHead.MAX_MILLIS) {
      refuse(
          ErrorCode.TOO_BIG,
          "delayMillis or ttlMillis is too long (expected: at most "
              + PublishHead.MAX_MILLIS
              + " ms)",
          false,
          publish.sequence(),
          router.selectedTopic());
      return true;
    }
    String name = publish.producerName();
    byte[] key = name == null ? keys.ofSession() : keyOf(name, publish.sequence());
    if (key == null) {
      return true;
    }
    if (!room.acquire(address, bytes, retry)) {
      return false;
    }
    StoredDelivery stored = loop.bus.stored();
    Frame frame =
        new Frame(
            journal,
            publish.sequence(),
            publish.sequence() + publish.eventCount() - 1,
            bytes,
            router.selectedTopic(),
            router.selectedBytes(),
            publish.confirm(),
            creation(journal),
            stored == null ? null : stored.refusal(session.principal().account()));
    Numbered numbered = new Numbered(router.selectedNumber(), name == null ? "" : name);
    long before = last.getOrDefault(numbered, -1L);
    long first = name == null ? publish.sequence() : publish.number();
    PublishHead head =
        new PublishHead(
            journal,
            router.selectedBytes(),
            key,
            session.producer(),
            publish.sequence(),
            first,
            // A repetition has a smaller number than what was sent before it: of a name, which may
            // leave numbers out, the one before it is not known.
            name != null && first <= before ? -1 : Math.min(before, first - 1),
            // Refused there, where it is known what is a repetition.
            frame.full == null
                ? Math.min(publish.expect(), PublishHead.NO_ROOM - 1)
                : PublishHead.NO_ROOM,
            publish.schema(),
            receivedAt,
            publish.ttlMillis(),
            publish.delayMillis());
    // First: the answer may come before the call returns.
    open.add(frame);
    boolean taken = false;
    try {
      taken = journals.append(head, events(in, publish), frame);
      if (!taken) {
        journals.whenRoom(retry);
        return false;
      }
    } catch (IllegalArgumentException e) {
      refuse(ErrorCode.TOO_BIG, String.valueOf(e.getMessage()), false, frame.first, frame.topic);
      return true;
    } finally {
      if (!taken) {
        open.removeLastOccurrence(frame);
        room.release(address, bytes);
      }
    }
    remember(numbered, Math.max(before, first + publish.eventCount() - 1));
    router.stored(publish.eventCount());
    return true;
  }

  private long creation(int journal) {
    JournalCatalog.Item item = journals.catalog().find(journal);
    return item == null ? 0 : item.creation();
  }

  /** Returns the key of a name; null if the frame was refused for it. */
  private byte @Nullable [] keyOf(String name, long sequence) {
    String topic = loop.router.selectedTopic();
    String problem = keys.problem(name);
    if (problem != null) {
      refuse(ErrorCode.ILLEGAL_TOPIC, problem, false, sequence, topic);
      return null;
    }
    byte[] key = keys.ofName(name);
    if (key == null) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "producer names of the connection: more than "
              + ProducerKeys.MAX_NAMES
              + " (expected: at most that)",
          false,
          sequence,
          topic);
    }
    return key;
  }

  /** Returns the events as one block. */
  private static ByteBuffer events(ByteBuffer in, PublishView publish) {
    int at = publish.eventsInPlace();
    int size = publish.eventsSize();
    if (at >= 0) {
      return in.duplicate().limit(at + size).position(at);
    }
    ByteBuffer block = ByteBuffer.allocate(size);
    publish.writeEvents(block);
    return block.flip();
  }

  private void remember(Numbered numbered, long end) {
    BusMemory memory = loop.bus.memory();
    if (last.put(numbered, end) == null) {
      memory.reserve(TOPIC_BYTES);
    }
    if (last.size() > MAX_TOPICS) {
      Iterator<Numbered> eldest = last.keySet().iterator();
      eldest.next();
      eldest.remove();
      memory.release(TOPIC_BYTES);
    }
  }

  /** Runs a task when everything that was appended before is answered; perhaps at once. */
  void whenAnswered(Runnable task) {
    Step step = new Step();
    step.task = task;
    open.add(step);
    answerSome();
  }

  /** Does a step when all before it are done; any thread. */
  private void done(Step step, Runnable task) {
    step.task = task;
    if (answering.compareAndSet(false, true)) {
      connection.execute(
          () -> {
            answering.set(false);
            answerSome();
          });
    }
  }

  /**
   * Gives the answers that are due: a few at once, so that a client with few does not wait, and the
   * others in turn. A journal answers thousands of frames at one moment.
   */
  private void answerSome() {
    if (goesOn) {
      return;
    }
    int given = 0;
    for (Step first = open.peek(); first != null; first = open.peek()) {
      Runnable task = first.task;
      if (task == null) {
        return;
      }
      if (given >= MAX_AT_ONCE && loop.budget().isSpent()) {
        goesOn = true;
        connection.inTurn(
            () -> {
              goesOn = false;
              answerSome();
            });
        return;
      }
      open.remove();
      given++;
      connection.chargeWork(ANSWER_NANOS);
      task.run();
    }
  }

  /** Frees what is remembered. */
  void close() {
    loop.bus.memory().release((long) TOPIC_BYTES * last.size());
    last.clear();
    keys.close();
    // The answers to frames still count.
    open.removeIf(step -> !(step instanceof Frame));
  }

  /** Frame that waits for its answer, which comes on any thread. */
  private final class Frame extends Step implements AppendListener {
    private final int journal;
    private final long first;
    private final long end;
    private final int bytes;
    private final String topic;
    private final byte[] topicBytes;
    private final boolean confirm;
    private final long creation;
    private final @Nullable Supplier<String> full;

    Frame(
        int journal,
        long first,
        long end,
        int bytes,
        String topic,
        byte[] topicBytes,
        boolean confirm,
        long creation,
        @Nullable Supplier<String> full) {
      this.journal = journal;
      this.first = first;
      this.end = end;
      this.bytes = bytes;
      this.topic = topic;
      this.topicBytes = topicBytes;
      this.confirm = confirm;
      this.creation = creation;
      this.full = full;
    }

    @Override
    public void completed(RecordResult result) {
      leaves(() -> answered(result));
    }

    @Override
    public void unavailable(JournalsUnavailableException cause) {
      String message = String.valueOf(cause.getMessage());
      leaves(() -> refuse(ErrorCode.UNAVAILABLE, message, true, first, topic));
    }

    /** Gives an answer when all before it are given, and the room of the frame back. */
    private void leaves(Runnable answer) {
      done(
          this,
          () -> {
            room.release(address, bytes);
            answer.run();
          });
    }

    private void answered(RecordResult result) {
      if (result instanceof RecordResult.Refused refused) {
        StoredDelivery stored = loop.bus.stored();
        if (full == null && stored != null && refused.reason() == JournalRefusalReason.STORE_FULL) {
          stored.full(journal);
        }
        refuse(
            code(refused.reason()),
            message(refused),
            refused.reason() == JournalRefusalReason.STORE_FULL,
            first,
            topic);
      } else {
        loop.stats.stored.add(1);
        confirm((RecordResult.Published) result);
      }
    }

    private String message(RecordResult.Refused refused) {
      return full != null && refused.reason() == JournalRefusalReason.STORE_FULL
          ? full.get()
          : refused.message();
    }

    private void confirm(RecordResult.Published published) {
      if (!confirm || !session.isOpen()) {
        return;
      }
      long position = published.position();
      Delivery answer =
          loop.router
              .deliveries()
              .allocate(
                  DeliveryKind.CONTROL,
                  Frames.confirmSize(topicBytes.length, end, -1, position, creation),
                  0,
                  0);
      Frames.writeConfirm(
          loop.scratch.clear(),
          ByteBuffer.wrap(topicBytes),
          0,
          topicBytes.length,
          end,
          -1,
          position,
          published.repeated(),
          creation);
      answer.append(loop.scratch.flip());
      answer.finish();
      session.out().send(answer);
    }
  }

  private static ErrorCode code(JournalRefusalReason reason) {
    return switch (reason) {
      case SEQUENCE_GAP -> ErrorCode.SEQUENCE_GAP;
      case EXPECTATION_FAILED -> ErrorCode.EXPECTATION_FAILED;
      case STORE_FULL -> ErrorCode.STORE_FULL;
      case EVENT_TOO_LARGE -> ErrorCode.TOO_BIG;
      case NO_JOURNAL -> ErrorCode.NO_JOURNAL;
      default -> throw new IllegalStateException("a publication was refused with " + reason);
    };
  }

  private void refuse(
      ErrorCode code, String message, boolean retryable, long sequence, String topic) {
    loop.bus.stats().countNotStored(code);
    if (session.isOpen()) {
      session.sendProblem(
          new Problem(code, message, retryable, sequence, TypeCode.PUBLISH.code(), topic));
    }
  }
}
