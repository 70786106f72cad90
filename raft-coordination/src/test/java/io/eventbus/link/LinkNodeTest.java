package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class LinkNodeTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final int ECHO = 7;
  private static final byte[] SECRET = "a secret of 24 bytes ...".getBytes(StandardCharsets.UTF_8);

  private final List<LinkNode> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(LinkNode::close);
  }

  private LinkNode node(String bus, String cluster, LinkSecurity security, LinkOptions options) {
    LinkNode node = new LinkNode(options, new LinkIdentity(bus, cluster), security);
    nodes.add(node);
    return node;
  }

  /** Returns the options of a node with low limits. */
  private static LinkOptions small(int links, int handshakes, Duration handshakeDeadline) {
    return new LinkOptions(
        65_536,
        100_000,
        3,
        links,
        handshakes,
        handshakeDeadline,
        Duration.ofSeconds(1),
        Duration.ofSeconds(4),
        1);
  }

  private LinkNode named(String name, String bus, String cluster) {
    LinkNode node =
        new LinkNode(
            LinkOptions.DEFAULT, new LinkIdentity(name, bus, cluster), LinkSecurity.none());
    nodes.add(node);
    return node;
  }

  private static InetSocketAddress listen(LinkNode node) throws Exception {
    node.offer(ECHO, (peer, request) -> CompletableFuture.completedFuture(request));
    return node.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private LinkNode open(String bus) {
    return node(bus, "", LinkSecurity.none(), LinkOptions.DEFAULT);
  }

  private static byte[] call(LinkNode from, InetSocketAddress to, byte[] request) throws Exception {
    return from.call(to, "test", ECHO, request, LONG).get(60, TimeUnit.SECONDS);
  }

  private static Throwable failure(CompletableFuture<?> future) {
    ExecutionException e =
        catchThrowableOfType(ExecutionException.class, () -> future.get(60, TimeUnit.SECONDS));
    Throwable cause = Objects.requireNonNull(e.getCause());
    Throwable inner = cause.getCause();
    return cause instanceof CompletionException && inner != null ? inner : cause;
  }

  private static LinkException refused(LinkNode from, InetSocketAddress to) {
    return (LinkException) failure(from.call(to, "test", ECHO, new byte[1], LONG));
  }

  private static String threadOf(LinkNode from, InetSocketAddress to, String channel)
      throws Exception {
    byte[] name = from.call(to, channel, 9, new byte[0], LONG).get(60, TimeUnit.SECONDS);
    return new String(name, StandardCharsets.UTF_8);
  }

  @Test
  void linksOfSomeChannelsHaveAThreadOfTheirOwnAtBothEnds() throws Exception {
    LinkNode a = open("a");
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    b.offer(
        9,
        (peer, request) ->
            CompletableFuture.completedFuture(
                Thread.currentThread().getName().getBytes(StandardCharsets.UTF_8)));
    DedicatedLoop there = b.useDedicatedLoop(Set.of("quick", "swift"));
    DedicatedLoop here = a.useDedicatedLoop(Set.of("quick"));
    String own = CompletableFuture.supplyAsync(() -> Thread.currentThread().getName(), there).get();

    for (String channel : List.of("quick", "quick.x", "quick.y", "swift", "swift.z")) {
      assertThat(threadOf(a, address, channel)).isEqualTo(own);
    }
    for (String channel : List.of("quicker", "test", "test.quick")) {
      assertThat(threadOf(a, address, channel)).isNotEqualTo(own);
    }
    Thread mine = CompletableFuture.supplyAsync(Thread::currentThread, here).get();
    assertThat(completing(a, here, address, "quick")).isSameAs(mine);
    // At once if the caller is on it.
    List<Integer> order = new ArrayList<>();
    CompletableFuture.runAsync(
            () -> {
              here.execute(() -> order.add(1));
              order.add(2);
            },
            here)
        .get(60, TimeUnit.SECONDS);
    assertThat(order).containsExactly(1, 2);
    assertThat(a.useDedicatedLoop(Set.of("quick"))).isSameAs(here);
    DedicatedLoop other = a.useDedicatedLoop(Set.of("other"));
    Thread another = CompletableFuture.supplyAsync(Thread::currentThread, other).get();
    assertThat(another).isNotSameAs(mine);
    assertThat(completing(a, other, address, "other")).isSameAs(another);
    assertThat(a.useDedicatedLoop(Set.of("quick"))).isSameAs(here);
    assertThatThrownBy(() -> a.useDedicatedLoop(Set.of("other", "more")))
        .isInstanceOf(IllegalStateException.class);
  }

  /** Returns the thread on which a call is answered that a loop has made. */
  private static Thread completing(
      LinkNode node, DedicatedLoop loop, InetSocketAddress address, String channel)
      throws Exception {
    CompletableFuture<Thread> completing = new CompletableFuture<>();
    loop.execute(
        () -> {
          var unused =
              node.call(address, channel, ECHO, new byte[0], LONG)
                  .thenRun(() -> completing.complete(Thread.currentThread()));
        });
    return completing.get(60, TimeUnit.SECONDS);
  }

  @Test
  void callsAreAnsweredInAnyOrderAndSize() throws Exception {
    LinkNode a = open("a");
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    List<CompletableFuture<byte[]>> held = new ArrayList<>();
    b.offer(
        8,
        (peer, request) -> {
          CompletableFuture<byte[]> answer = new CompletableFuture<>();
          synchronized (held) {
            held.add(answer);
            if (held.size() == 3) {
              held.get(2).complete(new byte[] {2});
              held.get(1).complete(new byte[] {1});
              held.get(0).complete(new byte[] {0});
            }
          }
          return answer;
        });
    call(a, address, new byte[0]);
    List<CompletableFuture<byte[]>> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answers.add(a.call(address, "test", 8, new byte[0], LONG));
    }
    for (int i = 0; i < 3; i++) {
      assertThat(answers.get(i).get(60, TimeUnit.SECONDS)).containsExactly(i);
    }
    for (int size : new int[] {0, 1, 127, 128, 70_000, 5_000_000}) {
      byte[] bytes = new byte[size];
      Arrays.fill(bytes, (byte) size);
      assertThat(call(a, address, bytes)).isEqualTo(bytes);
    }
  }

  @Test
  void eachSideKnowsTheOther() throws Exception {
    LinkNode a = node("a", "c1", LinkSecurity.sharedSecret(SECRET), LinkOptions.DEFAULT);
    LinkNode b = node("b", "c1", LinkSecurity.sharedSecret(SECRET), LinkOptions.DEFAULT);
    AtomicReference<LinkPeer> seen = new AtomicReference<>();
    InetSocketAddress address = listen(b);
    b.offer(
        ECHO,
        (peer, request) -> {
          seen.set(peer);
          return CompletableFuture.completedFuture(request);
        });
    call(a, address, new byte[1]);
    assertThat(seen.get()).isEqualTo(new LinkPeer("", "c1", "a", a.identity().instance(), "test"));
    assertThat(a.peer(address, "test").get(60, TimeUnit.SECONDS))
        .isEqualTo(new LinkPeer("", "c1", "b", b.identity().instance(), "test"));
  }

  @Test
  void aWrongSecretIsRefusedFromEitherSide() throws Exception {
    byte[] other = SECRET.clone();
    other[0]++;
    LinkNode b = node("b", "c1", LinkSecurity.sharedSecret(SECRET), LinkOptions.DEFAULT);
    InetSocketAddress address = listen(b);
    for (LinkSecurity wrong : List.of(LinkSecurity.none(), LinkSecurity.sharedSecret(other))) {
      LinkException e = refused(node("a", "c2", wrong, LinkOptions.DEFAULT), address);
      // The cluster is another one too, but a stranger is not told of it.
      assertThat(e.refusal()).isEqualTo(LinkRefusal.AUTHENTICATION);
      assertThat(e).hasMessageNotContaining("c1");
      assertThat(e.wasSent()).isFalse();
    }
    assertThat(b.strangers()).isEqualTo(2);
  }

  @Test
  void aClusterOfAnotherNameIsRefusedAndNamed() throws Exception {
    LinkNode b = named("north", "b", "");
    InetSocketAddress address = listen(b);
    LinkException e = refused(named("south", "a", ""), address);
    assertThat(e.refusal()).isEqualTo(LinkRefusal.OTHER_CLUSTER);
    assertThat(e).hasMessage("name of the cluster: south (expected: north)");
    assertThat(call(named("north", "c", ""), address, new byte[] {1})).containsExactly(1);
    assertThat(call(named("", "d", "c1"), address, new byte[] {1})).containsExactly(1);
  }

  @Test
  void namesAreLookedUp() throws Exception {
    InetSocketAddress b = listen(open("b"));
    InetSocketAddress byName = InetSocketAddress.createUnresolved("localhost", b.getPort());
    assertThat(call(open("a"), byName, new byte[] {1})).containsExactly(1);
    InetSocketAddress unknown =
        InetSocketAddress.createUnresolved("no such name.invalid", b.getPort());
    assertThat(failure(open("c").call(unknown, "test", ECHO, new byte[1], LONG)))
        .isInstanceOf(LinkException.class)
        .hasMessageStartingWith("no address of no such name.invalid");
  }

  @Test
  void anotherClusterIsRefusedAndNamed() throws Exception {
    LinkNode b = node("b", "c1", LinkSecurity.none(), LinkOptions.DEFAULT);
    InetSocketAddress address = listen(b);
    LinkException e = refused(node("a", "c2", LinkSecurity.none(), LinkOptions.DEFAULT), address);
    assertThat(e.refusal()).isEqualTo(LinkRefusal.OTHER_CLUSTER);
    assertThat(e).hasMessage("cluster: c2 (expected: c1)");
    assertThat(call(node("n", "", LinkSecurity.none(), LinkOptions.DEFAULT), address, new byte[2]))
        .hasSize(2);
  }

  @Test
  void errorsOfServicesComeWithTheirCode() throws Exception {
    LinkNode a = open("a");
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    b.offer(
        8,
        (peer, request) -> {
          throw new LinkServiceException("FULL", "no room");
        });
    b.offer(9, (peer, request) -> CompletableFuture.failedFuture(new IllegalStateException("x")));
    assertThat(failure(a.call(address, "test", 8, new byte[0], LONG)))
        .isInstanceOfSatisfying(
            LinkServiceException.class, e -> assertThat(e.code()).isEqualTo("FULL"));
    assertThat(failure(a.call(address, "test", 9, new byte[0], LONG)))
        .isInstanceOfSatisfying(
            LinkServiceException.class,
            e -> assertThat(e.code()).isEqualTo(LinkServiceException.INTERNAL));
    assertThat(failure(a.call(address, "test", 10, new byte[0], LONG)))
        .isInstanceOfSatisfying(
            LinkServiceException.class,
            e -> assertThat(e.code()).isEqualTo(LinkServiceException.UNKNOWN_SERVICE));
  }

  @Test
  void aCallEndsAtItsDeadlineAndSaysThatItWasSent() throws Exception {
    LinkNode a = open("a");
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    b.offer(8, (peer, request) -> new CompletableFuture<>());
    call(a, address, new byte[0]);
    LinkException e =
        (LinkException) failure(a.call(address, "test", 8, new byte[0], Duration.ofMillis(30)));
    assertThat(e).hasMessage("no answer of bus b within PT0.03S");
    assertThat(e.wasSent()).isTrue();
  }

  @Test
  void callsFailWithTheLinkAndTheNextOneOpensAnother() throws Exception {
    LinkNode a = open("a");
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    CountDownLatch reached = new CountDownLatch(1);
    b.offer(
        8,
        (peer, request) -> {
          reached.countDown();
          return new CompletableFuture<>();
        });
    call(a, address, new byte[0]);
    CompletableFuture<byte[]> pending = a.call(address, "test", 8, new byte[0], LONG);
    assertThat(reached.await(60, TimeUnit.SECONDS)).isTrue();
    b.close();
    assertThat(((LinkException) failure(pending)).wasSent()).isTrue();
    LinkException e = refused(a, address);
    assertThat(e.wasSent()).isFalse();
    LinkNode again = open("b");
    again.offer(ECHO, (peer, request) -> CompletableFuture.completedFuture(request));
    again.listen(address);
    assertThat(call(a, address, new byte[3])).hasSize(3);
  }

  @Test
  void tooManyCallsAreRefusedAtOnce() throws Exception {
    LinkOptions few = small(10, 10, Duration.ofSeconds(3));
    LinkNode a = node("a", "", LinkSecurity.none(), few);
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    b.offer(8, (peer, request) -> new CompletableFuture<>());
    call(a, address, new byte[0]);
    for (int i = 0; i < 3; i++) {
      var unused = a.call(address, "test", 8, new byte[0], LONG);
    }
    LinkException e = (LinkException) failure(a.call(address, "test", 8, new byte[0], LONG));
    assertThat(e).hasMessageContaining("calls under way to bus b: 3, 0 bytes");
    assertThat(e.wasSent()).isFalse();
  }

  @Test
  void aSilentPeerIsNoticed() throws Exception {
    LinkOptions quick =
        LinkOptions.DEFAULT.withTimes(
            Duration.ofSeconds(3), Duration.ofMillis(50), Duration.ofSeconds(2));
    LinkNode a = node("a", "", LinkSecurity.none(), quick);
    LinkNode b = open("b");
    InetSocketAddress address = listen(b);
    b.offer(8, (peer, request) -> new CompletableFuture<>());
    // Both live: nothing is closed however long a call takes.
    call(a, address, new byte[0]);
    LinkException e =
        (LinkException) failure(a.call(address, "test", 8, new byte[0], Duration.ofMillis(2_500)));
    assertThat(e).hasMessageContaining("no answer of bus b");
    assertThat(call(a, address, new byte[1])).hasSize(1);
  }

  @Test
  void aStrangerIsCutOffAndGetsNothing() throws Exception {
    LinkOptions quick =
        LinkOptions.DEFAULT.withTimes(
            Duration.ofMillis(200), Duration.ofMillis(50), Duration.ofMillis(200));
    LinkNode b = node("b", "c1", LinkSecurity.sharedSecret(SECRET), quick);
    InetSocketAddress address = listen(b);
    for (byte[] bytes :
        List.of(
            new byte[0],
            "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
            new byte[] {94, 2, 0},
            new byte[] {80, -1, -1, -1, -1, 15})) {
      try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
        socket.setSoTimeout(20_000);
        OutputStream out = socket.getOutputStream();
        out.write(bytes);
        out.flush();
        InputStream in = socket.getInputStream();
        assertThat(in.readAllBytes()).isEmpty();
      } catch (java.net.SocketException e) {
        // Reset instead of closed: nothing came either.
        assertThat(e).hasMessageContaining("reset");
      }
    }
  }

  @Test
  void moreLinksThanAllowedAreClosed() throws Exception {
    LinkOptions one = small(1, 10, Duration.ofSeconds(3));
    LinkNode b = node("b", "", LinkSecurity.none(), one);
    InetSocketAddress address = listen(b);
    call(open("a1"), address, new byte[0]);
    LinkException e = refused(open("a2"), address);
    assertThat(e.wasSent()).isFalse();
    assertThat(b.closedForNumber()).isEqualTo(1);
  }

  @Test
  void strangersWhoSayNothingKeepNoBusOut() throws Exception {
    LinkOptions one = small(10, 1, Duration.ofSeconds(30));
    LinkNode b = node("b", "", LinkSecurity.none(), one);
    InetSocketAddress address = listen(b);
    b.offer(ECHO, (peer, request) -> CompletableFuture.completedFuture(request));
    LinkNode first = open("a1");
    LinkNode second = open("a2");
    call(first, address, new byte[0]);
    // The first has introduced itself and does not count any more.
    call(second, address, new byte[0]);
    try (Socket silent = new Socket(address.getAddress(), address.getPort());
        Socket another = new Socket(address.getAddress(), address.getPort())) {
      silent.setSoTimeout(30_000);
      assertThat(silent.getInputStream().read()).isEqualTo(-1);
      assertThat(b.closedForNumber()).isEqualTo(1);
      call(open("a3"), address, new byte[0]);
      another.setSoTimeout(30_000);
      assertThat(another.getInputStream().read()).isEqualTo(-1);
      assertThat(b.closedForNumber()).isEqualTo(2);
      call(first, address, new byte[0]);
    }
  }
}
