package io.eventbus.loadtest.attack.forked;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The handle on the other end of the control's socket. For one thread. */
public final class ControlProcess implements AutoCloseable {
  private final Process process;
  private final DriverStopHook hook;
  private int port;

  private ControlProcess(Process process) {
    this.process = process;
    this.hook = DriverStopHook.add("control", process::destroyForcibly);
  }

  /**
   * Starts the process.
   *
   * @throws IOException if it cannot be started
   */
  public static ControlProcess start() throws IOException {
    List<String> command =
        JavaCommand.of(
            List.of("-Xmx16m", "-XX:+UseSerialGC"), ControlMain.class.getName(), List.of());
    ControlProcess control =
        DriverStopHook.whole(
            "control",
            () ->
                new ControlProcess(
                    new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start()));
    @Nullable String line =
        new BufferedReader(
                new InputStreamReader(control.process.getInputStream(), StandardCharsets.US_ASCII))
            .readLine();
    if (line == null || !line.startsWith(ControlMain.PORT)) {
      control.close();
      throw new DriverException("the control does not start: " + line);
    }
    control.port = Integer.parseInt(line.substring(ControlMain.PORT.length()));
    return control;
  }

  /** Returns where it takes its connection. */
  public int port() {
    return port;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    hook.close();
  }
}
