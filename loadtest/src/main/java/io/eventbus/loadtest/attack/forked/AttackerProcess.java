package io.eventbus.loadtest.attack.forked;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.attack.Observed;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The handle on a process that attacks. It is ended by its own id when this is closed, and by a
 * shutdown hook. For one thread.
 */
public final class AttackerProcess implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int END_SECONDS = 5;
  private static final int REPORT_SECONDS = 15;

  private final Process process;
  private final Path result;
  private final Path errors;
  private final DriverStopHook hook;

  private AttackerProcess(Process process, Path result, Path errors) {
    this.process = process;
    this.result = result;
    this.errors = errors;
    this.hook = DriverStopHook.add("attackers", this::kill);
  }

  /**
   * Starts the process and waits until it is ready to attack.
   *
   * @param nice how nice it is to other processes, 0 to 19
   * @throws IOException if it cannot be started
   */
  public static AttackerProcess start(Orders orders, int nice) throws IOException {
    AttackerProcess attacker = DriverStopHook.whole("attackers", () -> launch(nice));
    attacker.say(JSON.writeValueAsString(orders));
    BufferedReader out =
        new BufferedReader(
            new InputStreamReader(attacker.process.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    while (line != null && !line.equals(AttackerMain.READY)) {
      line = out.readLine();
    }
    if (line == null) {
      String said = Files.readString(attacker.errors);
      attacker.close();
      throw new DriverException("the attackers do not start:\n" + said);
    }
    return attacker;
  }

  private static AttackerProcess launch(int nice) throws IOException {
    Path result = Files.createTempFile("loadtest-attack-", ".json");
    Path errors = Files.createTempFile("loadtest-attack-", ".log");
    List<String> command = new ArrayList<>();
    if (nice > 0) {
      command.addAll(List.of("nice", "-n", String.valueOf(nice)));
    }
    command.addAll(
        JavaCommand.of(
            List.of("-Xmx2g", "-XX:MaxDirectMemorySize=1g", "-XX:+UseSerialGC"),
            AttackerMain.class.getName(),
            List.of(result.toString())));
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    return new AttackerProcess(process, result, errors);
  }

  private void say(String line) throws IOException {
    OutputStream in = process.getOutputStream();
    in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    in.flush();
  }

  /**
   * Begins the attack.
   *
   * @throws IOException if the process has ended
   */
  public void attack() throws IOException {
    say("attack");
  }

  /**
   * Waits for the end of the attack, at most so long.
   *
   * @param millis how long
   * @return false if it goes on
   * @throws InterruptedException if the thread is interrupted
   */
  public boolean awaitEnd(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Ends the attack if it goes on, and returns what the attackers saw.
   *
   * @return what they saw, or why that is not known
   * @throws InterruptedException if the thread is interrupted
   */
  public Observed end() throws InterruptedException {
    try {
      if (process.isAlive()) {
        process.getOutputStream().close();
      }
    } catch (IOException e) {
      // The process has ended in this moment.
    }
    if (!process.waitFor(REPORT_SECONDS, TimeUnit.SECONDS)) {
      return Observed.failed("the attackers did not end within " + REPORT_SECONDS + " s");
    }
    try {
      return Files.size(result) == 0
          ? Observed.failed("the attackers ended with " + process.exitValue() + ": " + tail())
          : JSON.readValue(result.toFile(), Observed.class);
    } catch (IOException e) {
      return Observed.failed("the attackers' report cannot be read: " + e.getMessage());
    }
  }

  private String tail() throws IOException {
    String all = Files.readString(errors);
    return all.substring(Math.max(0, all.length() - 500));
  }

  @Override
  public void close() {
    try {
      process.destroy();
      process.waitFor(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    kill();
    hook.close();
  }

  private void kill() {
    process.destroyForcibly();
    try {
      Files.deleteIfExists(result);
      Files.deleteIfExists(errors);
    } catch (IOException e) {
      // A file in the system's temporary directory is no reason to lose results.
      return;
    }
  }
}
