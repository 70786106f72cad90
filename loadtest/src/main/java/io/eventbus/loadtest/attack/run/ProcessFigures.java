package io.eventbus.loadtest.attack.run;

import io.eventbus.loadtest.driver.SystemCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the memory of the bus's process. What is not known is -1. Any thread. */
final class ProcessFigures {
  private static final Pattern PEAK = Pattern.compile("(?m)^VmHWM:\\s+(\\d+) kB$");
  private static final Pattern HEAP =
      Pattern.compile(
          "(?mi)^\\s*(?:garbage-first heap|def new generation|defnew|tenured generation|tenured"
              + "|psyounggen|paroldgen)\\b.*?used (\\d+)K");
  private static final long KILO = 1024;
  private static final int JCMD_SECONDS = 20;

  private final Path javaHome;
  private final long pid;

  ProcessFigures(Path javaHome, long pid) {
    this.javaHome = javaHome;
    this.pid = pid;
  }

  /** Returns the most resident memory so far, in bytes. */
  long rssPeak() {
    try {
      Path status = Path.of("/proc", Long.toString(pid), "status");
      Matcher peak = PEAK.matcher(Files.readString(status, StandardCharsets.ISO_8859_1));
      return peak.find() ? Long.parseLong(peak.group(1)) * KILO : -1;
    } catch (IOException e) {
      return -1;
    }
  }

  /** Returns the used heap after a full collection, in bytes. */
  long heapAfterCollection() throws InterruptedException {
    jcmd("GC.run");
    return heap(jcmd("GC.heap_info"));
  }

  static long heap(String info) {
    Matcher used = HEAP.matcher(info);
    long sum = 0;
    boolean found = false;
    while (used.find()) {
      sum += Long.parseLong(used.group(1)) * KILO;
      found = true;
    }
    return found ? sum : -1;
  }

  private String jcmd(String command) throws InterruptedException {
    Path jcmd = javaHome.resolve("bin").resolve("jcmd");
    try {
      return SystemCommand.result(JCMD_SECONDS, jcmd.toString(), Long.toString(pid), command)
          .output();
    } catch (IOException e) {
      return "";
    }
  }
}
