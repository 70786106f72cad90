package io.eventbus.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Difference between a refused allocation and the end of the heap. */
class RefusedMemoryTest {
  private static final String HEAP = "Java heap space";

  /** Process that runs out of memory in each way, and prints the classification. */
  static final class Exhausting {
    private final List<Object> held = new ArrayList<>();

    public static void main(String[] args) {
      say("jdk", new Exhausting()::jdk);
      say("netty", new Exhausting()::netty);
      say("heap", new Exhausting()::heap);
    }

    private void jdk() {
      held.add(ByteBuffer.allocateDirect(64 << 20));
    }

    private void netty() {
      while (true) {
        ByteBuf some = UnpooledByteBufAllocator.DEFAULT.directBuffer(1 << 20);
        held.add(some);
      }
    }

    private void heap() {
      held.add(new long[1 << 28]);
    }

    private static void say(String what, Runnable exhausts) {
      try {
        exhausts.run();
        System.out.println(what + " none");
      } catch (OutOfMemoryError e) {
        System.out.println(what + " " + RefusedMemory.isRefused(e));
      }
    }
  }

  @Test
  @Timeout(240)
  void aProcessThatRunsOutOfMemoryTellsOfWhichKind() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:MaxDirectMemorySize=16m",
                "-Dio.netty.maxDirectMemory=" + (8 << 20),
                "-cp",
                System.getProperty("java.class.path"),
                Exhausting.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(said.lines()).containsExactly("jdk true", "netty true", "heap false");
  }

  @Test
  void theJdkRefusesWithAMessageOrFromWhereItCounts() {
    assertThat(
            RefusedMemory.isRefused(
                new OutOfMemoryError(
                    "Cannot reserve 4096 bytes of direct buffer memory (allocated: 1, limit: 1)")))
        .isTrue();
    assertThat(RefusedMemory.isRefused(new OutOfMemoryError("Direct buffer memory"))).isTrue();
    OutOfMemoryError silent = new OutOfMemoryError();
    silent.setStackTrace(
        new StackTraceElement[] {
          new StackTraceElement("java.nio.Bits", "reserveMemory", "Bits.java", 178),
          new StackTraceElement("java.nio.DirectByteBuffer", "<init>", "DirectByteBuffer.java", 121)
        });
    assertThat(RefusedMemory.isRefused(silent)).isTrue();
  }

  @Test
  void theEndOfTheHeapIsNone() {
    assertThat(RefusedMemory.isRefused(new OutOfMemoryError(HEAP))).isFalse();
    assertThat(RefusedMemory.isRefused(new OutOfMemoryError())).isFalse();
    assertThat(RefusedMemory.isRefused(new StackOverflowError())).isFalse();
    assertThat(RefusedMemory.isRefused(new IllegalStateException("direct buffer memory")))
        .isFalse();
    assertThat(RefusedMemory.isRefused(null)).isFalse();
    OutOfMemoryError farBelow = new OutOfMemoryError(HEAP);
    StackTraceElement elsewhere = new StackTraceElement("a.B", "c", "B.java", 1);
    farBelow.setStackTrace(
        new StackTraceElement[] {
          elsewhere,
          elsewhere,
          elsewhere,
          new StackTraceElement("java.nio.Bits", "reserveMemory", "Bits.java", 178)
        });
    assertThat(RefusedMemory.isRefused(farBelow)).isFalse();
  }

  @Test
  void causesCount() {
    OutOfMemoryError refused = new OutOfMemoryError("Direct buffer memory");
    assertThat(RefusedMemory.isRefused(new CompletionException(new IOException(refused)))).isTrue();
    assertThat(RefusedMemory.isRefused(new CompletionException(new OutOfMemoryError(HEAP))))
        .isFalse();
    OutOfMemoryError heapAfterwards = new OutOfMemoryError(HEAP);
    heapAfterwards.initCause(refused);
    assertThat(RefusedMemory.isRefused(heapAfterwards)).isFalse();
    IllegalStateException first = new IllegalStateException("first");
    first.initCause(new IllegalStateException("second", first));
    assertThat(RefusedMemory.isRefused(first)).isFalse();
  }
}
