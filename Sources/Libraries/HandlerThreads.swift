import Dispatch

/// The threads on which a server's handlers run. Those of Swift's other tasks are as many as the machine has cores;
/// whoever keeps them busy would make every client of the server wait.
final class HandlerThreads: TaskExecutor {
    static let shared = HandlerThreads()

    private let queue = DispatchQueue(label: "handlers of HTTP requests", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
