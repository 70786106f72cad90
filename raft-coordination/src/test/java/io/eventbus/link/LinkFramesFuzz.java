package io.eventbus.link;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.RegistryFormatException;
import io.eventbus.registry.state.TimedCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Coverage-guided fuzzing of the readers of the links between buses, and of the messages on them.
 *
 * <p>With {@code JAZZER_FUZZ=1} in the environment, as in the nightly build, it looks for new
 * inputs for some seconds; without, it only runs the seeds. Its findings are in {@code
 * target/fuzz}.
 */
class LinkFramesFuzz {
  private static final int SERVER = 0;
  private static final int CLIENT = 1;
  private static final int OPEN = 2;
  private static final int COMMAND = 3;
  private static final int BATCH = 4;
  private static final int RESULT = 5;

  private static final int ECHO = 7;
  private static final LinkPeer PEER = new LinkPeer("", "", "b", 1, "test");
  private static final byte[] KEY = "no secret".getBytes(US_ASCII);
  private static final LinkSetup SETUP =
      new LinkSetup(
          LinkOptions.DEFAULT,
          Map.of(ECHO, (peer, request) -> CompletableFuture.completedFuture(request)),
          new LinkCounters());

  /** Calls the reader that the first byte chooses, so that one fuzzing run reaches them all. */
  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10s")
  void everyReader(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
    switch (input[0]) {
      case SERVER -> server(bytes);
      case CLIENT -> client(bytes);
      case OPEN -> open(bytes);
      case COMMAND -> decode(bytes, RegistryCodec::decodeCommand);
      case BATCH -> decode(bytes, RegistryCodec::decodeBatch);
      case RESULT -> decode(bytes, RegistryCodec::decodeResult);
      default -> {}
    }
  }

  private static void server(byte[] bytes) {
    ServerHandshake handshake =
        new ServerHandshake(
            new LinkIdentity("a", ""),
            KEY,
            SETUP,
            SETUP.counters(),
            new SecureRandom(),
            () -> {},
            link -> {
              throw new AssertionError("a stranger got through");
            },
            channel -> null,
            channel -> null);
    feed(new FrameDecoder(), handshake, bytes);
  }

  private static void client(byte[] bytes) {
    CompletableFuture<Link> opened = new CompletableFuture<>();
    feed(
        new FrameDecoder(),
        new ClientHandshake<>(PEER, KEY, SETUP::open, new SecureRandom(), opened),
        bytes);
    if (opened.isDone() && !opened.isCompletedExceptionally()) {
      throw new AssertionError("a stranger got through");
    }
  }

  private static void open(byte[] bytes) {
    EmbeddedChannel channel = new EmbeddedChannel();
    Link link = new Link(channel, PEER, LinkOptions.DEFAULT, SETUP.services());
    FrameDecoder decoder = new FrameDecoder();
    decoder.allow(1 << 20);
    channel.pipeline().addLast(decoder, link.handler());
    write(channel, bytes);
  }

  private static void feed(FrameDecoder decoder, ChannelHandler handler, byte[] bytes) {
    write(new EmbeddedChannel(decoder, handler), bytes);
  }

  /** Writes in two pieces, as the network might; any error must end in a closed channel. */
  private static void write(EmbeddedChannel channel, byte[] bytes) {
    try {
      int half = bytes.length / 2;
      channel.writeInbound(Unpooled.copiedBuffer(bytes, 0, half));
      if (channel.isOpen()) {
        channel.writeInbound(Unpooled.copiedBuffer(bytes, half, bytes.length - half));
      }
      int said = 0;
      for (Object out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
        said += ((ByteBuf) out).readableBytes();
        ReferenceCountUtil.release(out);
      }
      if (said > 1_024 + 64 * bytes.length) {
        throw new AssertionError("answers of " + said + " bytes to " + bytes.length);
      }
    } finally {
      channel.finishAndReleaseAll();
    }
  }

  private interface Decoder {
    Object decode(ByteBuffer bytes) throws RegistryFormatException;
  }

  private static void decode(byte[] bytes, Decoder decoder) {
    try {
      decoder.decode(ByteBuffer.wrap(bytes));
    } catch (RegistryFormatException e) {
      // The only thing that it may say.
    }
  }

  /** Returns a legal input for each reader, from which the fuzzer goes on. */
  static Stream<byte[]> seeds() {
    ByteBuf request = Unpooled.buffer();
    LinkCodec.writeLong(request, 1);
    LinkCodec.writeLong(request, ECHO);
    request.writeBytes(new byte[] {1, 2, 3});
    ByteBuf failure = Unpooled.buffer();
    LinkCodec.writeLong(failure, 1);
    LinkCodec.writeString(failure, "CODE");
    LinkCodec.writeString(failure, "message");
    ByteBuf nonce = Unpooled.buffer();
    LinkCodec.writeBytes(nonce, new byte[LinkHandshake.NONCE_BYTES]);
    ByteBuf refused = Unpooled.buffer();
    LinkCodec.writeString(refused, LinkRefusal.BUSY.name());
    LinkCodec.writeString(refused, "message");
    TopicCommand.Create create = new TopicCommand.Create(new TopicSpec("t", Map.of("a", "b")));
    CommandId id = new CommandId(1, 2, 3);
    return Stream.of(
        seed(
            SERVER,
            frame(LinkFrame.HELLO, new LinkHandshake.Hello(1, 1, PEER, new byte[32]).encode()),
            frame(LinkFrame.PROOF, nonce.copy())),
        seed(
            CLIENT,
            frame(LinkFrame.CHALLENGE, nonce),
            frame(LinkFrame.READY, new LinkHandshake.Ready(1, PEER, new byte[32]).encode())),
        seed(CLIENT, frame(LinkFrame.REFUSED, refused)),
        seed(
            OPEN,
            frame(LinkFrame.PING, Unpooled.EMPTY_BUFFER),
            frame(LinkFrame.REQUEST, request.copy()),
            frame(LinkFrame.RESPONSE, request),
            frame(LinkFrame.FAILURE, failure),
            frame(55, Unpooled.EMPTY_BUFFER)),
        seed(COMMAND, RegistryCodec.encodeCommand(id, create)),
        seed(BATCH, RegistryCodec.encodeBatch(List.of(new TimedCommand(id, 4, create)))),
        seed(
            RESULT,
            RegistryCodec.encodeResult(
                new CommandResult.Refused(1, RegistryRefusalReason.TOPIC_EXISTS, "message"))));
  }

  private static byte[] frame(int typeCode, ByteBuf body) {
    return ByteBufUtil.getBytes(LinkCodec.frame(typeCode, body));
  }

  private static byte[] seed(int reader, byte[]... parts) {
    ByteBuf all = Unpooled.buffer();
    all.writeByte(reader);
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return ByteBufUtil.getBytes(all);
  }
}
