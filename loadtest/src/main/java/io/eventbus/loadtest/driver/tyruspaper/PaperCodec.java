package io.eventbus.loadtest.driver.tyruspaper;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the paper's messages with Avro's own encoder and decoder, which it uses again
 * and again as Avro advises. No generic record is made between: this flatters the design rather
 * than the other way round. For one thread at a time.
 */
final class PaperCodec {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private @Nullable BinaryEncoder encoder;
  private @Nullable BinaryDecoder decoder;

  ByteBuffer encode(PaperMessage message) {
    out.reset();
    try {
      BinaryEncoder to = EncoderFactory.get().directBinaryEncoder(out, encoder);
      encoder = to;
      to.writeInt(message.typeCode());
      to.writeString(message.topic());
      to.writeBytes(message.message().duplicate());
      to.writeLong(message.published());
      to.writeLong(message.received());
      to.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ByteBuffer.wrap(out.toByteArray());
  }

  PaperMessage decode(ByteBuffer bytes) {
    byte[] array = new byte[bytes.remaining()];
    bytes.get(array);
    BinaryDecoder from = DecoderFactory.get().binaryDecoder(array, decoder);
    decoder = from;
    try {
      return new PaperMessage(
          from.readInt(),
          from.readString(),
          from.readBytes(null),
          from.readLong(),
          from.readLong());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
