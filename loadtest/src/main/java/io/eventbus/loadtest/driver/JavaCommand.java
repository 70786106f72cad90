package io.eventbus.loadtest.driver;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of another JVM like this one. */
public final class JavaCommand {
  private JavaCommand() {}

  /** Makes the command line: the same Java, the same class path. */
  public static List<String> of(List<String> jvmOptions, String mainClass, List<String> arguments) {
    return of(jvmOptions, System.getProperty("java.class.path"), mainClass, arguments);
  }

  /**
   * Makes the command line: the same Java, another class path.
   *
   * @param classPath where the classes are
   */
  public static List<String> of(
      List<String> jvmOptions, String classPath, String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.add("-cp");
    command.add(classPath);
    command.add(mainClass);
    command.addAll(arguments);
    return command;
  }
}
