package io.eventbus.loadtest.driver;

import io.eventbus.loadtest.workload.Workload;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** A system without a network: the publisher's thread calls the receivers. */
public final class MemoryDriver implements Driver {
  /** Flush of a publisher, for tests of failures. */
  private final Runnable onFlush;

  private final Supplier<DriverJournal> journals;

  public MemoryDriver() {
    this(() -> {});
  }

  public MemoryDriver(Runnable onFlush) {
    this.onFlush = onFlush;
    this.journals = MemoryJournal::new;
  }

  public MemoryDriver(DriverJournal journal) {
    this.onFlush = () -> {};
    this.journals = () -> journal;
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public Availability availability() {
    return Availability.present("1");
  }

  @Override
  public boolean hasCalls() {
    return true;
  }

  @Override
  public boolean hasDurableTopics() {
    return true;
  }

  @Override
  public Session start(Workload workload) {
    return new MemorySession(workload, onFlush, journals);
  }

  private record Line(String filter, Receiver receiver) {
    boolean takes(int topic) {
      return filter.endsWith(">") || filter.endsWith("*") || filter.equals(Workload.topic(topic));
    }
  }

  private static final class MemorySession implements Session {
    private final Workload workload;
    private final Runnable onFlush;
    private final Supplier<DriverJournal> journals;
    private final List<Line> lines = new CopyOnWriteArrayList<>();

    MemorySession(Workload workload, Runnable onFlush, Supplier<DriverJournal> journals) {
      this.workload = workload;
      this.onFlush = onFlush;
      this.journals = journals;
    }

    @Override
    public DriverJournal journal() {
      return journals.get();
    }

    @Override
    public List<Long> serverPids() {
      return List.of(ProcessHandle.current().pid());
    }

    @Override
    public DriverCalls calls() {
      CallLoop loop = new CallLoop(workload.calls(), workload.payloadBytes());
      return loop.with(payload -> CompletableFuture.completedFuture(loop.serve(payload)));
    }

    @Override
    public Publisher publisher(int number) {
      return new Publisher() {
        @Override
        public void publish(int topic, byte[] payload) {
          synchronized (lines) {
            for (Line line : lines) {
              if (line.takes(topic)) {
                line.receiver().onEvent(ByteBuffer.wrap(payload));
              }
            }
          }
        }

        @Override
        public void flush() {
          onFlush.run();
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public Subscriber subscriber(int number, String filter, Receiver receiver) {
      lines.add(new Line(filter, receiver));
      return new Subscriber() {
        @Override
        public long reportedLost() {
          return 0;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public IdleHandshake idleHandshake() {
      throw new DriverException("there is no network to connect by");
    }

    @Override
    public void close() {}
  }
}
