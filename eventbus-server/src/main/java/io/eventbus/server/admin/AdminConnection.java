package io.eventbus.server.admin;

import io.eventbus.server.admission.ClientAddress;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connection to the administration port: one request at a time. Its client has {@value
 * #REQUEST_SECONDS} s from the acceptance on for a whole request, TLS handshake included, {@value
 * #IDLE_SECONDS} s for each further one, and {@value #RESPONSE_SECONDS} s to take an answer.
 * Confined to the thread of the sockets.
 */
// A failed write or close ends the channel, which is handled; single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
final class AdminConnection extends ChannelInboundHandlerAdapter {
  static final int REQUEST_SECONDS = 3;
  static final int RESPONSE_SECONDS = 10;
  private static final int IDLE_SECONDS = 30;

  /** Longest wait for a turn; what has waited for longer is refused, at little cost. */
  private static final long MAX_TURN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Time in which a client whose request is refused may go on with it, to read the answer. */
  private static final int REFUSED_SECONDS = 1;

  /** Maximum octets of a request line; the longest useful one has some hundred. */
  static final int MAX_LINE = 4 * 1024;

  /** Maximum octets of the headers of a request, and of the trailers of its body. */
  static final int MAX_HEADERS = 16 * 1024;

  /** Maximum number of headers of a request: small ones take many times their octets. */
  static final int MAX_HEADER_COUNT = 100;

  /** Maximum octets of a body, which is dropped. */
  static final int MAX_BODY = 8 * 1024;

  /** Octets of a download that are written at a time. */
  private static final int PIECE = 32 * 1024;

  private static final HttpDecoderConfig DECODER =
      new HttpDecoderConfig()
          .setMaxInitialLineLength(MAX_LINE)
          .setMaxHeaderSize(MAX_HEADERS)
          .setHeadersFactory(new FewHeadersFactory())
          .setTrailersFactory(new FewHeadersFactory());

  private enum State {
    /** Waits for a request. */
    WAITING,
    /** Works on a request; nothing more is read. */
    WORKING,
    /** Waits until the answer is taken. */
    ANSWERING,
    /** Has refused the request before it was whole; the rest of it is dropped. */
    REFUSED
  }

  private final SocketChannel channel;
  private final InetSocketAddress client;
  private final ClientAddress address;
  private final AdminConnections all;
  private final AdminHandler handler;
  private final Executor threads;
  private final AnswerThread answers;
  private final @Nullable AdminTls tls;
  private State state = State.WAITING;
  private @Nullable HttpRequest head;
  private int body;

  /** Set if the client has sent something that is not read, or has ended TLS. */
  private boolean isLast;

  private @Nullable Future<?> deadline;

  /**
   * Creates the handler of an accepted connection.
   *
   * @param client its address
   * @param threads run actions that may wait; refuse if they have no time
   * @param answers runs the other actions
   */
  AdminConnection(
      SocketChannel channel,
      InetSocketAddress client,
      AdminConnections all,
      AdminHandler handler,
      Executor threads,
      AnswerThread answers,
      @Nullable AdminTls tls) {
    this.channel = channel;
    this.client = client;
    this.address = ClientAddress.of(client.getAddress());
    this.all = all;
    this.handler = handler;
    this.threads = threads;
    this.answers = answers;
    this.tls = tls;
  }

  /** Headers up to a maximum number. */
  private static final class FewHeaders extends DefaultHttpHeaders {
    @Override
    public HttpHeaders add(CharSequence name, Object value) {
      if (size() >= MAX_HEADER_COUNT) {
        throw new TooLongHttpHeaderException(
            "more than " + MAX_HEADER_COUNT + " headers (expected: fewer)");
      }
      return super.add(name, value);
    }

    @Override
    public HttpHeaders add(String name, Object value) {
      return add((CharSequence) name, value);
    }
  }

  private static final class FewHeadersFactory implements HttpHeadersFactory {
    @Override
    public HttpHeaders newHeaders() {
      return new FewHeaders();
    }

    @Override
    public HttpHeaders newEmptyHeaders() {
      return newHeaders();
    }
  }

  ClientAddress address() {
    return address;
  }

  /** Begins, or ends at once where there are too many. */
  void begin() {
    if (!all.add(this)) {
      channel.close();
      return;
    }
    channel.closeFuture().addListener(closed -> ended());
    ChannelPipeline pipeline = channel.pipeline();
    if (tls != null) {
      pipeline.addLast(tls.newHandler(channel.alloc()));
    }
    pipeline.addLast(new HttpRequestDecoder(DECODER), new HttpResponseEncoder(), this);
    setDeadline(REQUEST_SECONDS);
  }

  private void ended() {
    all.remove(this);
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  private void setDeadline(int seconds) {
    if (deadline != null) {
      deadline.cancel(false);
    }
    deadline =
        seconds == 0 ? null : channel.eventLoop().schedule(this::cut, seconds, TimeUnit.SECONDS);
  }

  /**
   * Closes the connection and forgets unsent data: no TLS close_notify, which may have to wait, and
   * a reset, so that half an answer is not taken for a whole one.
   */
  void cut() {
    if (state == State.ANSWERING && channel.isOpen()) {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    channel.unsafe().close(channel.newPromise());
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (state == State.WORKING || state == State.ANSWERING) {
        isLast = true;
      } else if (state == State.WAITING) {
        read(message);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void read(Object message) {
    if (message instanceof HttpRequest request) {
      head = request;
      body = 0;
      if (request.decoderResult().isFailure()) {
        refuse(unreadable(request.decoderResult().cause()));
        return;
      }
      if (HttpUtil.is100ContinueExpected(request)) {
        channel.writeAndFlush(
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
      }
    }
    HttpRequest begun = head;
    if (message instanceof HttpContent content && begun != null) {
      body += content.content().readableBytes();
      if (content.decoderResult().isFailure()) {
        refuse(HttpFailure.badRequest("body: malformed (expected: as in RFC 9112)"));
      } else if (body > MAX_BODY) {
        refuse(
            new HttpFailure(
                413, "TOO_LARGE", "body: too large (expected: " + MAX_BODY + " octets at most)"));
      } else if (content instanceof LastHttpContent) {
        head = null;
        work(begun);
      }
    }
  }

  private static HttpFailure unreadable(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return new HttpFailure(
          414, "TOO_LONG", "request line: too long (expected: " + MAX_LINE + " octets at most)");
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return new HttpFailure(
          431,
          "TOO_LARGE",
          "headers: too many (expected: "
              + MAX_HEADERS
              + " octets and "
              + MAX_HEADER_COUNT
              + " headers at most)");
    }
    return HttpFailure.badRequest("request: malformed (expected: HTTP/1.1, as in RFC 9112)");
  }

  private void refuse(HttpFailure failure) {
    state = State.REFUSED;
    head = null;
    channel.writeAndFlush(AdminReply.error(failure).whole(false, false));
    setDeadline(REFUSED_SECONDS);
  }

  private void work(HttpRequest whole) {
    state = State.WORKING;
    all.works(this);
    setDeadline(0);
    // Meanwhile the client can wait, or leave; TCP holds it back.
    channel.config().setAutoRead(false);
    boolean isNew = HttpVersion.HTTP_1_1.equals(whole.protocolVersion());
    try {
      AdminRequest request = AdminRequest.of(whole, client);
      handler.begin(new Exchange(request, isNew, isNew && HttpUtil.isKeepAlive(whole)));
    } catch (HttpFailure failure) {
      answer(AdminReply.error(failure).whole(false, false), false);
    }
  }

  /** Writes an answer, or the first part of one. */
  private ChannelFuture write(HttpResponse response) {
    if (state != State.WORKING || !channel.isOpen()) {
      return channel.newFailedFuture(new ClosedChannelException());
    }
    state = State.ANSWERING;
    all.waits(this);
    setDeadline(RESPONSE_SECONDS);
    return channel.writeAndFlush(response);
  }

  private void answer(FullHttpResponse response, boolean keeps) {
    write(response).addListener(written -> answered(written.isSuccess() && keeps));
  }

  private void answered(boolean keeps) {
    if (!keeps || isLast) {
      channel.close();
      return;
    }
    state = State.WAITING;
    setDeadline(IDLE_SECONDS);
    channel.config().setAutoRead(true);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent done
        && !done.isSuccess()
        && !(done.cause() instanceof ClosedChannelException)
        && tls != null) {
      tls.tellFailed(client, done.cause());
    } else if (event instanceof SslCloseCompletionEvent) {
      // Bytes that come after it would be kept by the handler of TLS.
      isLast = true;
      if (state == State.WAITING || state == State.REFUSED) {
        cut();
      }
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    cut();
  }

  /** Request and the way back. */
  private final class Exchange implements AdminHandler.Exchange {
    private final AdminRequest request;
    private final boolean isNew;
    private final boolean mayKeep;

    Exchange(AdminRequest request, boolean isNew, boolean mayKeep) {
      this.request = request;
      this.isNew = isNew;
      this.mayKeep = mayKeep;
    }

    @Override
    public AdminRequest request() {
      return request;
    }

    @Override
    public void runOnThread(Runnable task) {
      try {
        threads.execute(task);
      } catch (RejectedExecutionException e) {
        busy();
      }
    }

    @Override
    public void runInTurn(Runnable task) {
      long begun = System.nanoTime();
      try {
        answers.execute(
            address,
            () -> {
              if (System.nanoTime() - begun < MAX_TURN_NANOS) {
                task.run();
              } else {
                busy();
              }
            });
      } catch (RejectedExecutionException e) {
        busy();
      }
    }

    private void busy() {
      HttpFailure busy =
          new HttpFailure(
              503,
              "BUSY",
              "too many requests at a time; try again in a second",
              Map.of("Retry-After", List.of("1")));
      answer(AdminReply.error(busy), false);
    }

    @Override
    public void answer(AdminReply reply, boolean keeps) {
      boolean stays = keeps && mayKeep;
      if (reply.body() instanceof AdminReply.Download download && !request.isHead()) {
        send(download, reply.head(stays), stays);
      } else {
        FullHttpResponse response = reply.whole(request.isHead(), stays);
        onLoop(() -> AdminConnection.this.answer(response, stays));
      }
    }

    /**
     * Waits until the client has taken all of a download. One that breaks off ends with a reset.
     */
    private void send(AdminReply.Download download, HttpResponse first, boolean stays) {
      // Before HTTP/1.1 the end of the connection is the end of the answer.
      HttpUtil.setTransferEncodingChunked(first, isNew);
      onLoop(() -> write(first));
      try {
        OutputStream out = new BufferedOutputStream(new Pieces(), PIECE);
        download.writeTo(out);
        out.flush();
      } catch (IOException | RuntimeException e) {
        onLoop(AdminConnection.this::cut);
        return;
      }
      onLoop(
          () ->
              channel
                  .writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
                  .addListener(written -> answered(written.isSuccess() && stays)));
    }
  }

  private void onLoop(Runnable task) {
    if (channel.eventLoop().inEventLoop()) {
      task.run();
      return;
    }
    try {
      channel.eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // The port has closed, and all connections with it.
      return;
    }
  }

  /** Body of a download: each piece waits until the one before has left. */
  private final class Pieces extends OutputStream {
    @Override
    public void write(int octet) throws IOException {
      write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int offset, int length) throws IOException {
      for (int done = 0; done < length; done += PIECE) {
        int size = Math.min(PIECE, length - done);
        ChannelFuture written =
            channel.writeAndFlush(
                new DefaultHttpContent(Unpooled.copiedBuffer(octets, offset + done, size)));
        try {
          if (!written.await(RESPONSE_SECONDS, TimeUnit.SECONDS) || !written.isSuccess()) {
            throw new IOException("the caller does not take the answer", written.cause());
          }
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new IOException("the bus stops", e);
        }
      }
    }
  }
}
