package io.eventbus.journal.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.copy.CopyRequest.Kind;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.journal.store.TestStores;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CopySourceTest {
  private static final UUID GROUP = new UUID(5, 6);
  private static final int ROWS = 5;

  private final Path directory;
  private final AtomicLong nanos = new AtomicLong();
  private boolean ready = true;
  private long configured = 1;
  private Runnable whileOpened = () -> {};
  private ShardStore store;
  private CopySource source;

  CopySourceTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private final class Replica implements CopySource.Replica {
    @Override
    public ReplicaState state() {
      return new ReplicaState("bus-a~1", ready, configured, List.of("bus-a~1"), List.of("bus-b~1"));
    }

    @Override
    public CompletionStage<Void> appliedUpToNow() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public StoreLease lease() {
      return store.lease();
    }

    @Override
    public long bytes() {
      return store.bytes();
    }

    @Override
    public CopySource.Configuration configuration() {
      whileOpened.run();
      return new CopySource.Configuration(configured, ByteBuffer.wrap(new byte[] {7}));
    }

    @Override
    public void keepLog(String member) {}
  }

  private static byte[] key(int number) {
    return new byte[] {2, (byte) number};
  }

  @BeforeEach
  void open() throws IOException {
    store = TestStores.open(directory.resolve("source"));
    for (int i = 1; i <= ROWS; i++) {
      TestStores.put(store, i, key(i), new byte[600_000]);
    }
    source = new CopySource(GROUP, "bus-a~1", new Replica(), 1L << 40, nanos::get, Thread::new);
  }

  @AfterEach
  void close() {
    source.close();
    store.close();
  }

  private byte[] ask(String bus, Kind kind, long number, int slice) throws IOException {
    CopyRequest request = new CopyRequest(kind, GROUP, bus + "~1", number, slice);
    LinkPeer peer = new LinkPeer("", "", bus, 1, "shard-copies");
    try {
      return source
          .answer(peer, request.encode())
          .toCompletableFuture()
          .orTimeout(60, TimeUnit.SECONDS)
          .join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof LinkServiceException refusal) {
        throw refusal;
      }
      throw new IOException(e);
    }
  }

  private CopyHead open(String bus) throws IOException {
    return CopyHead.decode(ask(bus, Kind.OPEN, 1, 0));
  }

  private void assertRefused(String code, String bus, Kind kind, long number, int slice) {
    assertThatThrownBy(() -> ask(bus, kind, number, slice))
        .isInstanceOfSatisfying(
            LinkServiceException.class, refusal -> assertThat(refusal.code()).isEqualTo(code))
        .hasMessageContaining("expected: ");
  }

  @Test
  void aReceiverGetsTheRowsOfOneMomentWhateverIsWrittenMeanwhile() throws Exception {
    try (ShardStore into = TestStores.open(directory.resolve("target"))) {
      int[] written = {ROWS};
      whileOpened =
          () -> {
            written[0]++;
            TestStores.put(store, written[0], key(written[0]), new byte[100]);
          };
      CopyReceiver receiver =
          new CopyReceiver(
              GROUP,
              "bus-b~1",
              new CopyReceiver.Source() {
                @Override
                public String id() {
                  return "bus-a~1";
                }

                @Override
                public byte[] ask(CopyRequest request) throws IOException {
                  byte[] answer =
                      CopySourceTest.this.ask(
                          "bus-b", request.kind(), request.number(), request.slice());
                  written[0]++;
                  TestStores.put(store, written[0], key(written[0]), new byte[100]);
                  TestStores.put(store, written[0] + 1, key(2), new byte[1]);
                  written[0]++;
                  return answer;
                }
              },
              (bytes, expected) -> {});
      CopyReceiver.Copied copied = receiver.copy(into, 1);
      assertThat(copied.applied()).isEqualTo(new AppliedEntry(1, ROWS, ROWS));
      assertThat(copied.rows()).isEqualTo(ROWS);
      assertThat(copied.configuration()).isEqualTo(ByteBuffer.wrap(new byte[] {7}));
      assertThat(into.applied()).isEqualTo(copied.applied());
      assertThat(into.appliedOnDisk()).isEqualTo(copied.applied());
      try (StoreLease lease = into.lease()) {
        for (int i = 1; i <= ROWS; i++) {
          assertThat(lease.get(key(i))).hasSize(600_000);
        }
        assertThat(lease.get(key(ROWS + 1))).isNull();
      }
    }
  }

  @Test
  void aCopyEndsWhileItsRowsAreBroughtToTheDisk() throws Exception {
    StoreOptions large =
        new StoreOptions(32 << 20, 3, true, Duration.ofSeconds(60), TestStores.SMALL.flush());
    try (ShardStore into = TestStores.open(directory.resolve("target"), large)) {
      CopyReceiver receiver =
          new CopyReceiver(
              GROUP,
              "bus-b~1",
              new CopyReceiver.Source() {
                @Override
                public String id() {
                  return "bus-a~1";
                }

                @Override
                public byte[] ask(CopyRequest request) throws IOException {
                  return CopySourceTest.this.ask(
                      "bus-b", request.kind(), request.number(), request.slice());
                }
              },
              (bytes, expected) -> {
                if (into.applied().index() > 0) {
                  throw new IOException("stopped");
                }
              });
      TestStores.pauseFlushes(into);
      try {
        assertThatThrownBy(() -> receiver.copy(into, 1))
            .isInstanceOf(IOException.class)
            .hasMessage("stopped");
      } finally {
        TestStores.continueFlushes(into);
      }
    }
  }

  @Test
  void oneCopyIsSentAtATimeAndEndsWhenNothingIsAskedForInAWhile() throws Exception {
    CopyHead first = open("bus-b");
    assertRefused(CopySource.BUSY, "bus-c", Kind.OPEN, 1, 0);
    nanos.addAndGet(Duration.ofSeconds(50).toNanos());
    byte[] slice = ask("bus-b", Kind.NEXT, first.number(), 0);
    nanos.addAndGet(Duration.ofSeconds(50).toNanos());
    assertThat(ask("bus-b", Kind.NEXT, first.number(), 0)).isEqualTo(slice);
    assertRefused(CopySource.BUSY, "bus-c", Kind.OPEN, 1, 0);
    nanos.addAndGet(Duration.ofSeconds(61).toNanos());
    CopyHead second = open("bus-c");
    assertRefused(CopySource.ENDED, "bus-b", Kind.NEXT, first.number(), 1);

    // Who begins anew needs not wait for the end of its own copy.
    CopyHead third = open("bus-c");
    assertRefused(CopySource.ENDED, "bus-c", Kind.NEXT, second.number(), 0);
    assertThat(ask("bus-c", Kind.CLOSE, third.number(), 0)).isEmpty();
    assertThat(open("bus-b").number()).isNotEqualTo(third.number());
    source.close();
    // No lease is left.
    assertThat(store.close(Duration.ofSeconds(10))).isTrue();
  }

  @Test
  void whatCannotBeSentIsRefused() throws Exception {
    CopyHead head = open("bus-b");
    assertRefused(LinkServiceException.MALFORMED, "bus-b", Kind.NEXT, head.number(), 1);
    assertRefused(LinkServiceException.MALFORMED, "bus-b", Kind.NEXT, head.number(), -5);
    assertRefused(CopySource.BUSY, "bus-b", Kind.OPEN, ROWS + 1, 0);
    configured = ROWS + 1;
    assertRefused(CopySource.BUSY, "bus-b", Kind.OPEN, 1, 0);
    ready = false;
    assertRefused(CopySource.NOT_READY, "bus-b", Kind.OPEN, 1, 0);
    assertThat(ReplicaState.decode(ask("bus-b", Kind.STATE, 0, 0)))
        .isEqualTo(new Replica().state());

    LinkPeer stranger = new LinkPeer("", "", "bus-c", 1, "shard-copies");
    byte[] request = new CopyRequest(Kind.STATE, GROUP, "bus-b~1", 1, 0).encode();
    assertThatThrownBy(() -> source.answer(stranger, request))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("member: bus-b~1 (expected: one of bus bus-c)");
    byte[] group = new CopyRequest(Kind.STATE, new UUID(0, 1), "bus-c~1", 1, 0).encode();
    assertThatThrownBy(() -> source.answer(stranger, group))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("group: ");
    byte[] kind = request.clone();
    kind[1] = 7;
    assertThatThrownBy(() -> source.answer(stranger, kind))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("kind: 7 (expected: 1 to 6)");
  }

  @Test
  void anythingButTheNextSliceIsRefused() throws Exception {
    CopyHead head = open("bus-b");
    byte[] slice = ask("bus-b", Kind.NEXT, head.number(), 0);
    Slice.Reader whole = new Slice.Reader(slice, head.number(), 0);
    assertThat(whole.next()).isTrue();
    assertThat(whole.key()).isEqualTo(key(1));
    assertThat(whole.value()).hasSize(600_000);
    assertThat(whole.next()).isFalse();
    assertThat(whole.rows()).isEqualTo(1);
    assertThat(whole.isLast()).isFalse();
    for (int at = 0; at < slice.length; at += 10_007) {
      byte[] changed = slice.clone();
      changed[at] ^= 4;
      assertMalformed(changed, head.number(), 0);
    }
    assertMalformed(slice, head.number(), 1);
    assertMalformed(slice, head.number() + 1, 0);
    assertMalformed(new byte[24], head.number(), 0);
  }

  private static void assertMalformed(byte[] slice, long copy, int number) {
    assertThatThrownBy(() -> new Slice.Reader(slice, copy, number))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("expected: ");
  }

  @Test
  void aStoreThatIsLoadedHasAppliedNothingBeforeTheEnd() throws Exception {
    Path part = directory.resolve("part");
    try (ShardStore into = TestStores.open(part);
        var loader = into.loader()) {
      loader.put(key(1), new byte[10]);
      loader.write();
      assertThatThrownBy(() -> loader.put(new byte[] {0, 1}, new byte[1]))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(into.applied()).isEqualTo(AppliedEntry.NONE);
    }
    try (ShardStore into = TestStores.open(part)) {
      assertThat(into.applied()).isEqualTo(AppliedEntry.NONE);
    }
    assertThatThrownBy(() -> store.loader())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("expected: none applied");
  }
}
