package io.eventbus.protocol;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.avro.util.Utf8;

/**
 * An Avro encoder that writes arrays and maps in any legal block structure: the items are spread
 * over several blocks at random, some with their size and some without. Everything else is the Avro
 * library's encoding.
 */
final class AnyBlocksEncoder extends Encoder {
  private final Random random;
  private final Deque<Level> levels = new ArrayDeque<>();

  /** Array or map that is open, or at the bottom the record. */
  private static final class Level {
    final List<byte[]> items = new ArrayList<>();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder out = EncoderFactory.get().directBinaryEncoder(bytes, null);
    boolean started;

    void closeItem() {
      if (started) {
        items.add(bytes.toByteArray());
      }
      bytes = new ByteArrayOutputStream();
      out = EncoderFactory.get().directBinaryEncoder(bytes, null);
    }
  }

  private AnyBlocksEncoder(Random random) {
    this.random = random;
    levels.push(new Level());
  }

  static byte[] encode(SpecificRecord record, long seed) {
    try {
      AnyBlocksEncoder encoder = new AnyBlocksEncoder(new Random(seed));
      new SpecificDatumWriter<SpecificRecord>(record.getSchema(), SpecificData.get())
          .write(record, encoder);
      return encoder.levels.getFirst().bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private BinaryEncoder out() {
    return levels.getFirst().out;
  }

  private void open() {
    levels.push(new Level());
  }

  private void close() throws IOException {
    Level level = levels.pop();
    level.closeItem();
    BinaryEncoder out = out();
    int next = 0;
    while (next < level.items.size()) {
      int count = 1 + random.nextInt(level.items.size() - next);
      ByteArrayOutputStream block = new ByteArrayOutputStream();
      for (byte[] item : level.items.subList(next, next + count)) {
        block.write(item);
      }
      next += count;
      boolean sized = random.nextBoolean();
      out.writeLong(sized ? -count : count);
      if (sized) {
        out.writeLong(block.size());
      }
      out.writeFixed(block.toByteArray());
    }
    out.writeLong(0);
  }

  @Override
  public void startItem() {
    Level level = levels.getFirst();
    level.closeItem();
    level.started = true;
  }

  @Override
  public void writeArrayStart() {
    open();
  }

  @Override
  public void writeArrayEnd() throws IOException {
    close();
  }

  @Override
  public void writeMapStart() {
    open();
  }

  @Override
  public void writeMapEnd() throws IOException {
    close();
  }

  @Override
  public void setItemCount(long itemCount) {
    // The items are counted as they come.
  }

  @Override
  public void flush() {
    // Nothing is held back.
  }

  @Override
  public void writeNull() throws IOException {
    out().writeNull();
  }

  @Override
  public void writeBoolean(boolean b) throws IOException {
    out().writeBoolean(b);
  }

  @Override
  public void writeInt(int n) throws IOException {
    out().writeInt(n);
  }

  @Override
  public void writeLong(long n) throws IOException {
    out().writeLong(n);
  }

  @Override
  public void writeFloat(float f) throws IOException {
    out().writeFloat(f);
  }

  @Override
  public void writeDouble(double d) throws IOException {
    out().writeDouble(d);
  }

  @Override
  public void writeString(Utf8 utf8) throws IOException {
    out().writeString(utf8);
  }

  @Override
  public void writeBytes(ByteBuffer bytes) throws IOException {
    out().writeBytes(bytes);
  }

  @Override
  public void writeBytes(byte[] bytes, int start, int len) throws IOException {
    out().writeBytes(bytes, start, len);
  }

  @Override
  public void writeFixed(byte[] bytes, int start, int len) throws IOException {
    out().writeFixed(bytes, start, len);
  }

  @Override
  public void writeEnum(int e) throws IOException {
    out().writeEnum(e);
  }

  @Override
  public void writeIndex(int unionIndex) throws IOException {
    out().writeIndex(unionIndex);
  }
}
