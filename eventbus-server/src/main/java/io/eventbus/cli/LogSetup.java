package io.eventbus.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.Duration;
import ch.qos.logback.core.util.FileSize;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.config.AuditConfig;
import io.eventbus.server.config.LogConfig;
import io.eventbus.server.sys.AuditTrail;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Sends all logging to standard error, in one format. A configuration of the user's own ({@code
 * -Dlogback.configurationFile}) is left alone.
 */
final class LogSetup {
  /** Libraries that log internals at INFO. */
  private static final String TLS = "io.netty.handler.ssl.SslHandler";

  /** Parts of Ratis that warn of every planned change of the leader, and of every short pause. */
  private static final String[] NERVOUS = {
    "org.apache.ratis.server.RaftServer$Division", "org.apache.ratis.util.JvmPauseMonitor"
  };

  private static final String[] CHATTY = {
    "io.netty", "org.glassfish", "com.sun", "sun.net", "jdk", "io.micrometer", "org.apache.ratis"
  };

  private LogSetup() {}

  static void configure(LogConfig config) {
    // Tyrus, Grizzly and the JDK's HTTP server log through java.util.logging.
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
    if (System.getProperty("logback.configurationFile") != null) {
      return;
    }
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(context);
    appender.setName("stderr");
    appender.setTarget("System.err");
    appender.setEncoder(encoder(context, config.format()));
    appender.start();
    var root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.valueOf(config.level().name()));
    root.addAppender(appender);
    if (config.level().compareTo(LogConfig.Level.INFO) <= 0) {
      for (String name : CHATTY) {
        context
            .getLogger(name)
            .setLevel(config.level() == LogConfig.Level.ERROR ? Level.ERROR : Level.WARN);
      }
      // A line for each client that does not answer close_notify, however many these are.
      context.getLogger(TLS).setLevel(Level.ERROR);
      for (String name : NERVOUS) {
        context.getLogger(name).setLevel(Level.ERROR);
      }
    }
  }

  /**
   * Configures the audit log's file, whatever else is logged.
   *
   * @throws CliFailure if it cannot be written
   */
  static void audit(AuditConfig config) {
    audit((LoggerContext) LoggerFactory.getILoggerFactory(), config);
  }

  static void audit(LoggerContext context, AuditConfig config) {
    Path file = config.file();
    if (file == null) {
      return;
    }
    PatternLayoutEncoder lines = new PatternLayoutEncoder();
    lines.setContext(context);
    lines.setPattern("%msg%n");
    lines.start();
    RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
    appender.setContext(context);
    appender.setName("audit");
    appender.setFile(file.toString());
    appender.setEncoder(lines);
    FixedWindowRollingPolicy rolling = new FixedWindowRollingPolicy();
    rolling.setContext(context);
    rolling.setParent(appender);
    rolling.setFileNamePattern(file + ".%i");
    rolling.setMinIndex(1);
    rolling.setMaxIndex(config.files());
    rolling.start();
    SizeBasedTriggeringPolicy<ILoggingEvent> size = new SizeBasedTriggeringPolicy<>();
    size.setContext(context);
    size.setMaxFileSize(new FileSize(config.maxBytes()));
    // At each line, not once a minute.
    size.setCheckIncrement(Duration.buildByMilliseconds(0));
    size.start();
    appender.setRollingPolicy(rolling);
    appender.setTriggeringPolicy(size);
    appender.start();
    if (!appender.isStarted()) {
      throw new CliFailure(
          ExitCode.FAILED,
          "audit.file: "
              + file
              + " cannot be written (expected: a file in a directory that the bus may write)");
    }
    var logger = context.getLogger(AuditTrail.LINES);
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(appender);
  }

  static Encoder<ILoggingEvent> encoder(LoggerContext context, LogConfig.Format format) {
    if (format == LogConfig.Format.JSON) {
      JsonLines json = new JsonLines();
      json.setContext(context);
      json.start();
      return json;
    }
    PatternLayoutEncoder text = new PatternLayoutEncoder();
    text.setContext(context);
    text.setPattern("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %logger{0} %msg%n");
    text.start();
    return text;
  }
}
