package io.eventbus.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Execution;
import io.eventbus.client.Response;
import io.eventbus.client.Service;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelHandler;
import io.eventbus.client.TunnelOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Streams and tunnels of the SDK at one bus with two event loops. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class SdkTunnelsIT {
  private static final Flow.Subscription NONE =
      new Flow.Subscription() {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
      };

  private static WatchedBus bus;

  private final List<EventBusClient> clients = new ArrayList<>();
  private final BlockingQueue<Tunnel> accepted = new LinkedBlockingQueue<>();

  @BeforeAll
  static void start() throws IOException {
    bus = WatchedBus.alone("listen.event-loops", "2");
  }

  @AfterAll
  static void stop() throws Exception {
    bus.close();
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
  }

  private EventBusClient client() {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static Throwable failure(CompletionStage<?> stage) throws Exception {
    try {
      throw new AssertionError("completed: " + get(stage));
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }

  private Service serve(String name, TunnelHandler handler) throws Exception {
    Service service =
        client().serve(name, invocation -> CompletableFuture.completedFuture(Event.of("reply")));
    service.onTunnel(handler);
    return get(service.ready());
  }

  private void serveAccepting(String name) throws Exception {
    serve(name, offer -> accepted.add(offer.accept(Event.of("welcome"))));
  }

  private Tunnel taken() throws InterruptedException {
    return Objects.requireNonNull(accepted.poll(60, TimeUnit.SECONDS), "no tunnel within 60 s");
  }

  /** Subscriber that requests one message at a time. */
  private static final class Reader implements Flow.Subscriber<byte[]> {
    final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    Flow.Subscription subscription = NONE;

    static Reader of(Tunnel tunnel) {
      Reader reader = new Reader();
      tunnel.messages().subscribe(reader);
      return reader;
    }

    @Override
    public void onSubscribe(Flow.Subscription of) {
      subscription = of;
    }

    @Override
    public void onNext(byte[] message) {
      seen.add(message);
    }

    @Override
    public void onError(Throwable failure) {
      seen.add(failure);
    }

    @Override
    public void onComplete() {
      seen.add("end");
    }

    Object next() throws InterruptedException {
      return Objects.requireNonNull(seen.poll(60, TimeUnit.SECONDS), "nothing within 60 s");
    }

    String text() throws InterruptedException {
      subscription.request(1);
      return new String((byte[]) next(), UTF_8);
    }
  }

  @Test
  void messagesOfAnySizeGoBothWaysWholeAndInOrder() throws Exception {
    serveAccepting("tunnel.sizes");
    Tunnel caller = get(client().tunnel("tunnel.sizes", Event.of("please"), TunnelOptions.DEFAULT));
    Tunnel member = taken();
    assertThat(caller.opening().text()).isEqualTo("welcome");
    assertThat(member.opening().text()).isEqualTo("please");
    Reader atMember = Reader.of(member);
    Reader atCaller = Reader.of(caller);
    Random random = new Random(7);
    for (int size : new int[] {0, 1, 100, 65_536, 70_000, 3_000_000, 0, 5}) {
      byte[] message = new byte[size];
      random.nextBytes(message);
      CompletionStage<Void> sent = caller.send(message);
      atMember.subscription.request(1);
      assertThat((byte[]) atMember.next()).isEqualTo(message);
      get(sent);
      atCaller.subscription.request(1);
      get(member.send(message));
      assertThat((byte[]) atCaller.next()).isEqualTo(message);
    }
    caller.closeOutput();
    assertThat(atMember.next()).isEqualTo("end");
    // The other direction goes on.
    get(member.send("last".getBytes(UTF_8)));
    assertThat(atCaller.text()).isEqualTo("last");
    member.closeOutput();
    assertThat(atCaller.next()).isEqualTo("end");
    get(caller.closed());
    get(member.closed());
  }

  @Test
  void theMemberMayEndFirst() throws Exception {
    serveAccepting("tunnel.member-first");
    Tunnel caller = get(client().tunnel("tunnel.member-first", TunnelOptions.DEFAULT));
    Tunnel member = taken();
    Reader atCaller = Reader.of(caller);
    Reader atMember = Reader.of(member);
    member.closeOutput();
    assertThat(atCaller.next()).isEqualTo("end");
    get(caller.send("still".getBytes(UTF_8)));
    assertThat(atMember.text()).isEqualTo("still");
    caller.closeOutput();
    assertThat(atMember.next()).isEqualTo("end");
    get(caller.closed());
    get(member.closed());
  }

  @Test
  void aReaderThatStopsBlocksItsOwnSenderOnly() throws Exception {
    serveAccepting("tunnel.stalled");
    EventBusClient caller = client();
    Tunnel stalled = get(caller.tunnel("tunnel.stalled", TunnelOptions.DEFAULT));
    Tunnel unread = taken();
    Tunnel other = get(caller.tunnel("tunnel.stalled", TunnelOptions.DEFAULT));
    Reader reader = Reader.of(taken());
    byte[] chunk = new byte[32 * 1024];
    // Of the window of 256 KiB, seven and a part of the eighth; eight are as much as may wait
    // here.
    for (int i = 0; i < 14; i++) {
      get(stalled.send(chunk));
    }
    CompletableFuture<Void> room = stalled.send(chunk).toCompletableFuture();
    int sent = 15 * chunk.length;
    assertThat(failure(stalled.send(chunk))).isInstanceOf(CallFailed.Overloaded.class);
    for (int i = 0; i < 200; i++) {
      CompletionStage<Void> stage = other.send(("m" + i).getBytes(UTF_8));
      assertThat(reader.text()).isEqualTo("m" + i);
      get(stage);
    }
    assertThat(caller.call("tunnel.stalled", Event.of("x")).text()).isEqualTo("reply");
    assertThat(room).isNotDone();
    // Sent messages come when they are read.
    try (InputStream in = unread.asInputStream()) {
      assertThat(in.readNBytes(sent).length).isEqualTo(sent);
      get(room);
    }
  }

  @Test
  void aResetReachesTheOtherEndInEitherDirection() throws Exception {
    serveAccepting("tunnel.reset");
    EventBusClient client = client();
    Tunnel caller = get(client.tunnel("tunnel.reset", TunnelOptions.DEFAULT));
    Reader atMember = Reader.of(taken());
    caller.reset("too-late", "gone fishing");
    Rejected seen = (Rejected) atMember.next();
    assertThat(seen.type()).isEqualTo("too-late");
    assertThat(seen.getMessage()).contains("gone fishing");
    assertThat(failure(caller.send(new byte[1]))).isInstanceOf(Rejected.class);

    Tunnel second = get(client.tunnel("tunnel.reset", TunnelOptions.DEFAULT));
    Reader atCaller = Reader.of(second);
    Tunnel member = taken();
    get(member.send("first".getBytes(UTF_8)));
    assertThat(atCaller.text()).isEqualTo("first");
    member.reset("broken", "no more");
    assertThat(((Rejected) atCaller.next()).type()).isEqualTo("broken");

    Tunnel third = get(client.tunnel("tunnel.reset", TunnelOptions.DEFAULT));
    Reader read = Reader.of(taken());
    third.close();
    assertThat(read.next()).isInstanceOf(CallFailed.Cancelled.class);
  }

  @Test
  void aTunnelThatIsNotTakenSaysWhy() throws Exception {
    serve(
        "tunnel.refusing",
        offer -> {
          throw Rejected.failed("closed", "come tomorrow", new byte[] {1});
        });
    EventBusClient client = client();
    CallFailed refused =
        (CallFailed) failure(client.tunnel("tunnel.refusing", TunnelOptions.DEFAULT));
    assertThat(((Rejected) refused).type()).isEqualTo("closed");
    assertThat(refused.executed()).isEqualTo(Execution.YES);
    CallFailed nobody = (CallFailed) failure(client.tunnel("tunnel.nobody", TunnelOptions.DEFAULT));
    assertThat(nobody).isInstanceOf(CallFailed.NoMember.class);
    assertThat(nobody.executed()).isEqualTo(Execution.NO);
    serve("tunnel.silent", offer -> {});
    assertThat(failure(client.tunnel("tunnel.silent", TunnelOptions.DEFAULT)))
        .isInstanceOf(Rejected.class);
  }

  @Test
  void theEndOfEitherConnectionEndsItsTunnels() throws Exception {
    serveAccepting("tunnel.lost");
    EventBusClient caller = client();
    Tunnel first = get(caller.tunnel("tunnel.lost", TunnelOptions.DEFAULT));
    Reader atMember = Reader.of(taken());
    caller.close(Duration.ZERO);
    assertThat(atMember.next()).isInstanceOf(CallFailed.Cancelled.class);
    assertThat(failure(first.closed())).isNotNull();

    Tunnel second = get(client().tunnel("tunnel.lost", TunnelOptions.DEFAULT));
    taken();
    clients.get(0).close(Duration.ZERO);
    CallFailed lost = (CallFailed) failure(second.closed());
    assertThat(lost.executed()).isNotEqualTo(Execution.NO);
  }

  /** Publishes as many as are asked for; after the thirteenth it fails. */
  private static final class Numbers implements Flow.Subscription {
    private final Flow.Subscriber<? super Event> to;
    private final int max;
    private int next;
    private boolean running;
    private long asked;

    Numbers(Flow.Subscriber<? super Event> to, int max) {
      this.to = to;
      this.max = max;
    }

    @Override
    public synchronized void request(long n) {
      asked += n;
      if (running) {
        return;
      }
      running = true;
      while (asked > 0 && next < max) {
        asked--;
        to.onNext(Event.builder("n" + next).header("i", "" + next++).build());
      }
      running = false;
      if (next == max) {
        next++;
        if (max == 13) {
          to.onError(Rejected.failed("unlucky", "13", new byte[0]));
        } else {
          to.onComplete();
        }
      }
    }

    @Override
    public synchronized void cancel() {
      next = max + 1;
    }
  }

  @Test
  void aStreamBringsEventsAsTheyAreAskedFor() throws Exception {
    Service service = serve("stream.numbers", offer -> {});
    service.onStream(
        invocation -> {
          int max = Integer.parseInt(invocation.event().text());
          return subscriber -> subscriber.onSubscribe(new Numbers(subscriber, max));
        });
    BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    EventBusClient client = client();
    for (int max : new int[] {0, 1, 1000, 13}) {
      client
          .requestStream("stream.numbers", Event.of("" + max))
          .subscribe(
              new Flow.Subscriber<Response>() {
                private Flow.Subscription subscription = NONE;

                @Override
                public void onSubscribe(Flow.Subscription of) {
                  subscription = of;
                  of.request(1);
                }

                @Override
                public void onNext(Response response) {
                  seen.add(response.text() + response.event().headers().get("i"));
                  subscription.request(1);
                }

                @Override
                public void onError(Throwable failure) {
                  seen.add(failure);
                }

                @Override
                public void onComplete() {
                  seen.add("end");
                }
              });
      for (int i = 0; i < max; i++) {
        assertThat(seen.poll(60, TimeUnit.SECONDS)).isEqualTo("n" + i + i);
      }
      Object end = seen.poll(60, TimeUnit.SECONDS);
      if (max == 13) {
        // Behind what was published before.
        assertThat(((Rejected) Objects.requireNonNull(end)).type()).isEqualTo("unlucky");
      } else {
        assertThat(end).isEqualTo("end");
      }
    }
  }

  @Test
  void megabytesKeepTheirChecksum() throws Exception {
    checksum("tunnel.checksum", 4 << 20);
  }

  private void checksum(String name, int bytes) throws Exception {
    serve(
        name,
        offer -> {
          Tunnel tunnel = offer.accept();
          try (InputStream in = tunnel.asInputStream();
              OutputStream out = tunnel.asOutputStream()) {
            in.transferTo(out);
          }
        });
    Tunnel tunnel = get(client().tunnel(name, TunnelOptions.DEFAULT));
    MessageDigest sent = MessageDigest.getInstance("SHA-256");
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              Random random = new Random(3);
              byte[] chunk = new byte[50_000];
              try (OutputStream out = tunnel.asOutputStream()) {
                for (int left = bytes; left > 0; left -= chunk.length) {
                  random.nextBytes(chunk);
                  int n = Math.min(left, chunk.length);
                  out.write(chunk, 0, n);
                  sent.update(chunk, 0, n);
                }
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    MessageDigest received = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[64 * 1024];
    InputStream in = tunnel.asInputStream();
    long count = 0;
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      received.update(buffer, 0, n);
      count += n;
    }
    get(writer);
    assertThat(count).isEqualTo(bytes);
    assertThat(received.digest()).isEqualTo(sent.digest());
    get(tunnel.closed());
  }

  @Test
  void afterTheEndNothingCanBeSent() throws Exception {
    serveAccepting("tunnel.closed");
    Tunnel caller = get(client().tunnel("tunnel.closed", TunnelOptions.DEFAULT));
    caller.closeOutput();
    assertThatThrownBy(() -> caller.send(new byte[0])).isInstanceOf(IllegalStateException.class);
  }
}
